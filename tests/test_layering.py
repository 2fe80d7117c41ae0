"""Import rules: downwards only, separate fronts, one module that reads the environment."""

import ast
import functools
import graphlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "mxcy"
KERNELS = ROOT / "kernels"
if not KERNELS.is_dir():
    pytest.skip("the sources are not beside the tests", allow_module_level=True)

#: the parts of mxcy from the bottom upwards; each imports from its own layer and those below it
LAYERS = (
    ("_base",),
    ("env", "base", "libinfo", "_library", "_machine", "profile", "_semantics", "dist"),
    ("ops",),
    ("graph",),
    # arrays and symbols, and what runs them
    ("attribute", "autograd", "context", "custom", "_deferred_compute", "_devices", "engine")
    + ("_execute", "executor", "gpu", "name", "ndarray", "numpy", "numpy_extension")
    + ("profiler", "random", "resource", "storage", "symbol", "util"),
    # training and its data
    ("callback", "_files", "image", "initializer", "io", "kvstore", "lr_scheduler", "metric")
    + ("model", "module", "monitor", "optimizer", "recordio", "registry", "rnn"),
    ("amp", "contrib", "gluon", "interop", "onnx", "quantization"),
    # names of their own over all of these
    ("_api_internal", "_ffi", "container", "cuda", "device", "dlpack", "error")
    + ("executor_manager", "library", "log")
    + (
        "misc",
        "numpy_dispatch_protocol",
        "numpy_op_signature",
        "operator",
        "rtc",
        "runtime",
        "test_utils",
        "torch",
        "visualization",
    ),
    ("", "__main__", "bench", "compat", "diagnose", "examples", "horovod", "tools"),
)
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}
#: part -> all that it may import of mxcy, where that is less than its layer
NARROW = {"_cy": ("_base", "base", "_library", "_cy"), "_cy3": ("_cy",)}
NARROW["_ctypes"] = ("_base", "base", "_library", "_ctypes")
SOURCES = sorted(path for suffix in ("py", "pyx", "pxd") for path in PACKAGE.rglob(f"*.{suffix}"))


def dotted(path):
    """The module name of a source file."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def imported(path):
    """The names, dotted from mxcy, that a source file imports anywhere in it."""
    text = path.read_text()
    if path.suffix != ".py":
        matches = re.findall(r"^\s*(?:from\s+(mxcy[\w.]*)\s+)?c?import\s+(\w[\w.]*)", text, re.M)
        return {f"{source}.{name}" if source else name for source, name in matches}
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


def test_files_are_short():
    """As CONTRIBUTING.md asks; generated ones are as long as what they are made from."""
    limit = int(
        re.search(r"A file stays below (\d+) lines", (ROOT / "CONTRIBUTING.md").read_text())[1]
    )
    kinds = ("*.py", "*.pyx", "*.pxd", "*.cc", "*.h", "*.cuh", "*.cu")
    sources = [
        path
        for wing in (PACKAGE, KERNELS, ROOT / "tests", ROOT / "benchmarks", ROOT / "tools")
        for kind in kinds
        for path in wing.rglob(kind)
        if not path.name.endswith(".gen.h")
    ]
    long = {path: path.read_text().count("\n") for path in sources}
    assert not [f"{path}: {lines}" for path, lines in long.items() if lines >= limit]


def test_every_part_has_a_layer():
    assert {part(dotted(path)) for path in SOURCES} == {*LEVEL, *NARROW}


def test_imports_go_downwards():
    wrong = []
    for path in SOURCES:
        source = part(dotted(path))
        for name in imported(path):
            target = part(name)
            if target is None or (target == "" and name == "mxcy"):
                continue
            allowed = (
                target in NARROW[source]
                if source in NARROW
                else target == source or LEVEL.get(target, len(LAYERS)) <= LEVEL[source]
            )
            if not allowed:
                wrong.append(f"{path.relative_to(ROOT)} imports {name}")
    assert not wrong, "\n".join(wrong)


def test_no_modules_import_each_other_in_a_circle():
    modules = {dotted(path) for path in SOURCES if path.suffix == ".py"}
    sorter = graphlib.TopologicalSorter()
    for path in SOURCES:
        if path.suffix == ".py":
            sorter.add(dotted(path), *modules_of(imported(path), modules, dotted(path)))
    try:
        sorter.prepare()
    except graphlib.CycleError as error:
        pytest.fail(" imports\n".join(reversed(error.args[1])))


def test_packages_import_each_other_without_cycles():
    """Packages and modules right below mxcy; the fronts are loaded by name."""
    forwarded = {dotted(path): imported(path) for path in SOURCES if only_forwards(path)}
    sorter = graphlib.TopologicalSorter()
    for path in SOURCES:
        importer = part(dotted(path))
        if importer in ("", *NARROW) or dotted(path) in forwarded:
            continue
        for name in imported(path):
            module = name if name in forwarded else name.rpartition(".")[0]
            parts = {part(source) for source in forwarded.get(module, (name,))}
            sorter.add(importer, *parts - {None, "", importer})
    try:
        sorter.prepare()
    except graphlib.CycleError as error:
        pytest.fail(" imports\n".join(reversed(error.args[1])))


def only_forwards(path):
    """Whether a module of its own has nothing but a docstring, imports and `__all__`."""
    if path.suffix != ".py" or path.parent != PACKAGE or path.name == "__init__.py":
        return False
    return all(
        isinstance(statement, ast.Import | ast.ImportFrom)
        or isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        or isinstance(statement, ast.Assign)
        and ast.unparse(statement.targets[0]) == "__all__"
        for statement in ast.parse(path.read_text()).body
    )


def modules_of(names, modules, importer):
    """The modules among `modules` that imported names refer to, the package itself apart."""
    for name in names:
        while name and name not in modules:
            name = name.rpartition(".")[0]
        if name not in ("", "mxcy", importer):
            yield name


def test_only_env_reads_the_environment():
    python = re.compile(r"\benviron\b|\bos\.(get|put|unset)env\b|from os import .*env")
    outside = [path for path in SOURCES if PACKAGE / "env" not in path.parents]
    outside.remove(PACKAGE / "tools" / "rank.py")  # it sets the environment of its child processes
    wrong = [path for path in outside if python.search(path.read_text())]
    wrong += [p for p in KERNELS.rglob("*.*") if re.search(r"\bgetenv\b", p.read_text())]
    assert not wrong


def test_state_of_modules_lives_in_objects():
    """No `global` statements."""
    statement = re.compile(r"^\s+global \w+(, \w+)*$", re.M)
    users = {str(p.relative_to(PACKAGE)) for p in SOURCES if statement.search(p.read_text())}
    assert not users


def test_optional_packages_are_not_imported_with_mxcy(run_python):
    names = ("cupy", "numba", "scipy", "tqdm", "onnx", "cv2", "PIL", "mpi4py", "matplotlib")
    printed = run_python(f"import sys, mxcy; print([n for n in {names} if n in sys.modules])")
    assert printed.strip() == "[]"


def test_compression_libraries_are_not_imported_with_mxcy(run_python):
    names = ("bz2", "logging", "lzma", "zipfile")
    printed = run_python(f"import sys, mxcy; print([n for n in {names} if n in sys.modules])")
    assert printed.strip() == "[]"


def test_the_ctypes_front_needs_no_extension_module(run_python):
    code = "import sys, mxcy; print([name for name in sys.modules if name.startswith('mxcy._cy')])"
    assert run_python(code, MXNET_ENABLE_CYTHON="0").strip() == "[]"


def test_machine_specific_code_is_in_kernels_machine():
    for path in [*KERNELS.rglob("*.cc"), *KERNELS.rglob("*.h")]:
        if "machine" in path.parts:
            continue
        text = path.read_text()
        assert not re.search(r"#\s*include\s+<(\w+intrin|arm_neon|cpuid)\.h>", text), path
        assert not re.search(r"__(x86_64|aarch64|ARM_NEON)__", text), path


@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no C++ preprocessor")
def test_leaf_kernels_use_only_intrinsics_that_aarch64_has(tmp_path):
    (tmp_path / "arm_neon.h").touch()
    leaf = sorted((KERNELS / "leaf").rglob("*.cc"))
    folders = (tmp_path, KERNELS, KERNELS / "include", KERNELS / "machine" / "aarch64")
    command = ["g++", "-E", "-P", "-std=c++17", "-fopenmp", "-x", "c++", "-"]
    text = subprocess.run(
        [*command, "-DMX_ISA=neon", "-DMX_ISA_LEVEL=2", *(f"-I{folder}" for folder in folders)],
        input="".join(f'#include "{path}"\n' for path in leaf),
        text=True,
        capture_output=True,
        check=True,
        timeout=60,
    ).stdout
    used = set(re.findall(r"\b_mm_\w+", text))
    assert "_mm_sqrt_ps" in used
    assert used == set(re.findall(r"always_inline\)\) \w+ (_mm_\w+)\(", text))


def test_kernels_know_nothing_of_python():
    for path in [*KERNELS.rglob("*.cc"), *KERNELS.rglob("*.h")]:
        for header in re.findall(r"^\s*#\s*include\s+(\S+)", path.read_text(), re.M):
            assert not re.search("python|numpy/", header, re.I), f"{path} includes {header}"
