"""Who may import whom: downwards only, fronts apart, one door to the environment."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "mxcy"
KERNELS = ROOT / "kernels"
if not KERNELS.is_dir():
    pytest.skip("the sources are not beside the tests", allow_module_level=True)

FOUNDATION = ("affinity", "base", "blas", "cpus", "dtypes", "env", "files", "libinfo", "onednn")
FOUNDATION += ("c_interface", "class_tools", "older_paths", "threads", "tuning")
#: layer -> the parts of mxcy that it may import; layers not named here are public packages
MAY_IMPORT = {
    **{name: FOUNDATION for name in FOUNDATION},
    "ops": (*FOUNDATION, "ops"),
    "graph": (*FOUNDATION, "ops", "graph"),
    "_cy": (*FOUNDATION, "_cy"),
    "_cy3": ("_cy",),  # another name of it
    "_ctypes": (*FOUNDATION, "_ctypes"),
    "_front": FOUNDATION,  # it imports the front it chooses by name
}
NEVER_BY_PUBLIC = ("_cy", "_cy3", "_ctypes", "examples")
SOURCES = sorted(path for suffix in ("py", "pyx", "pxd") for path in PACKAGE.rglob(f"*.{suffix}"))


def dotted(path):
    """The module name of a source file."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path):
    """The names, dotted from mxcy, that a source file imports anywhere in it."""
    text = path.read_text()
    if path.suffix != ".py":
        found = re.findall(r"^\s*(?:from\s+(mxcy[\w.]*)\s+)?c?import\s+(\w[\w.]*)", text, re.M)
        return {f"{source}.{name}" if source else name for source, name in found}
    names = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def part(name):
    """The first part below mxcy of a dotted name, '' for mxcy itself, None outside it."""
    parts = name.split(".")
    return None if parts[0] != "mxcy" else (parts[1] if len(parts) > 1 else "")


def test_imports_go_downwards():
    wrong = []
    for path in SOURCES:
        layer = part(dotted(path))
        for name in imported(path):
            target = part(name)
            if target is None or (target == "" and layer == "examples"):
                continue
            allowed = MAY_IMPORT.get(layer)
            bad = target not in allowed if allowed else target in NEVER_BY_PUBLIC
            if bad and target != layer:
                wrong.append(f"{path.relative_to(ROOT)} imports {name}")
    assert not wrong, "\n".join(wrong)


def test_only_env_reads_the_environment():
    python = re.compile(r"\benviron\b|\bos\.(get|put|unset)env\b|from os import .*env")
    outside = [path for path in SOURCES if PACKAGE / "env" not in path.parents]
    wrong = [path for path in outside if python.search(path.read_text())]
    wrong += [p for p in KERNELS.rglob("*.*") if re.search(r"\bgetenv\b", p.read_text())]
    assert not wrong


def test_optional_packages_are_not_imported_with_mxcy(run_python):
    names = ("cupy", "numba", "scipy", "tqdm", "onnx", "cv2", "PIL", "mpi4py", "matplotlib")
    printed = run_python(f"import sys, mxcy; print([n for n in {names} if n in sys.modules])")
    assert printed.strip() == "[]"


def test_the_ctypes_front_needs_no_extension_module(run_python):
    code = "import sys, mxcy; print([name for name in sys.modules if name.startswith('mxcy._cy')])"
    assert run_python(code, MXNET_ENABLE_CYTHON="0").strip() == "[]"


def test_kernels_know_nothing_of_python():
    for path in [*KERNELS.rglob("*.cc"), *KERNELS.rglob("*.h")]:
        for header in re.findall(r"^\s*#\s*include\s+(\S+)", path.read_text(), re.M):
            assert not re.search("python|numpy", header, re.I), f"{path} includes {header}"
