"""``python -m mxcy.diagnose``: information for bug reports, and fixes for this machine.

If mxcy cannot be imported, it runs as ``python -P path/of/mxcy/diagnose.py``.
"""

import argparse
import importlib
import importlib.machinery
import importlib.metadata
import importlib.util
import os
import platform
import re
import subprocess
import sys
import time
import urllib.request
import warnings
from pathlib import Path
from typing import NamedTuple

__all__ = ["Finding", "extras", "findings", "main", "report"]

_PACKAGE = Path(__file__).resolve().parent
_SECTIONS = {
    "python": "the interpreter",
    "pip": "pip's version and folder",
    "mxnet": "mxcy: version, folder, library, features",
    "os": "the operating system",
    "hardware": "processors and memory",
    "environment": "environment variables that are set, and what is wrong with them",
    "parts": "which components are usable, why others are not, and how to fix that",
    "network": "response times of the servers for packages and data",
}
_SERVERS = {"PyPI": "https://pypi.org/simple/pip/"}


class Finding(NamedTuple):
    """Whether a component of mxcy is usable here.

    Attributes
    ----------
    part : str
        The component's name.
    usable : bool
    detail : str
        The version or file in use, or why it is not usable.
    command : str
        A shell command that fixes it; empty if there is nothing to fix.
    """

    part: str
    usable: bool
    detail: str
    command: str = ""


# --- probes --------------------------------------------------------------------------------------


def _probe(code, timeout=60):
    """Run code in a separate process, which may crash; return (output or None, error)."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=timeout
        )
    except (OSError, subprocess.SubprocessError) as error:
        return None, str(error)
    if done.returncode == 0:
        return done.stdout.strip(), ""
    lines = done.stderr.strip().splitlines()
    return None, lines[-1] if lines else f"exit status {done.returncode}"


def _import():
    """Return (mxcy, None), or (None, the exception of its import)."""
    if str(_PACKAGE.parent) not in sys.path and "mxcy" not in sys.modules:
        sys.path.insert(0, str(_PACKAGE.parent))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # their causes are reported below
            return importlib.import_module("mxcy"), None
    except Exception as error:
        return None, error


def _install(extra):
    return f"pip install 'mxcy[{extra}]'"


def _rebuild():
    """The command that rebuilds the package, from its source tree or the package index."""
    tree = _PACKAGE.parent
    if (tree / "setup.py").is_file():
        return f"pip install -e {tree}"
    return "pip install --force-reinstall --no-deps mxcy"


def _import_finding(error):
    if isinstance(error, ModuleNotFoundError) and error.name in ("numpy", "threadpoolctl"):
        return Finding("mxcy", False, f"{error.name} is not installed", f"pip install {error.name}")
    command = _rebuild() if isinstance(error, ImportError | RuntimeError) else ""
    if type(error).__name__ == "EnvError":
        command = "python -m mxcy.env --check"
    return Finding("mxcy", False, f"{type(error).__name__}: {error}".splitlines()[0], command)


def _modules_of_others():
    """The Python tags of the Cython modules, if this Python's is not among them."""
    own = importlib.machinery.EXTENSION_SUFFIXES
    names = [path.name for path in (_PACKAGE / "_cy").glob("*.so")]
    tags = {name.split(".", 1)[1].removesuffix(".so") for name in names}
    return [] if {f".{tag}.so" for tag in tags}.intersection(own) else sorted(tags)


# --- components ----------------------------------------------------------------------------------


def _fronts(mx):
    front = importlib.import_module("mxcy._library.front")
    for package, title, variable in (
        ("_cy", "Cython front", "MXNET_ENABLE_CYTHON=1"),
        ("_ctypes", "ctypes front", "MXNET_ENABLE_CYTHON=0"),
    ):
        used = "in use" if front.package == package else f"{variable} selects it"
        try:
            front.load(package)
        except ImportError as error:
            tags = _modules_of_others() if package == "_cy" else []
            detail = f"built for {', '.join(tags)}; this is {sys.implementation.cache_tag}"
            yield Finding(title, False, detail if tags else str(error), _rebuild())
        else:
            yield Finding(title, True, used)


def _library(mx):
    library = importlib.import_module("mxcy._library.open").open_library()
    (path,) = mx.libinfo.find_lib_path()
    levels = importlib.import_module("mxcy._machine.levels")
    wanted, level = mx.env.get("MXCY_ISA"), levels.level_name(library.mx_isa())
    why = f", selected by MXCY_ISA={wanted}" if wanted else ""
    yield Finding("native library", True, f"{path}, kernels for {level}{why}")


def _onednn(mx):
    onednn = importlib.import_module("mxcy._library.onednn")
    if not mx.env.get("MXNET_ONEDNN_ENABLED"):
        detail = "switched off by MXNET_ONEDNN_ENABLED=0"
        yield Finding("oneDNN", False, detail, "unset MXNET_ONEDNN_ENABLED")
        return
    paths, version = onednn.find_libraries(), onednn.version()
    if version:
        yield Finding("oneDNN", True, f"{version}: one of {', '.join(paths)}")
    elif paths:
        detail = f"{', '.join(paths)}: no oneDNN 3 with GNU OpenMP"
        yield Finding("oneDNN", False, detail, _install("onednn"))
    else:
        yield Finding("oneDNN", False, "not installed", _install("onednn"))


def _opencv(mx):
    version, error = _probe("import cv2; print(cv2.__version__)")
    if version:
        yield Finding("OpenCV", True, version)
    elif "libGL" in error or "libgthread" in error:  # the GUI build of OpenCV on a server
        mend = "pip uninstall -y opencv-python; pip install --force-reinstall "
        yield Finding("OpenCV", False, error, mend + "opencv-python-headless")
    else:
        yield Finding("OpenCV", False, error, _install("image"))


def _mpi(mx):
    if importlib.util.find_spec("mpi4py") is None:
        yield Finding("MPI", False, "mpi4py is not installed", _install("dist"))
        return
    version, error = _probe(
        "import mpi4py; mpi4py.rc.initialize = False\n"
        "from mpi4py import MPI; print(MPI.Get_library_version().splitlines()[0])"
    )
    if version:
        yield Finding("MPI", True, version)
    else:
        detail = f"mpi4py finds no MPI library: {error}"
        yield Finding("MPI", False, detail, "pip install 'mpich>=5,<6'")


_CUDA = """
import ctypes
driver = ctypes.CDLL("libcuda.so.1")
count, status = ctypes.c_int(), driver.cuInit(0)
status = status or driver.cuDeviceGetCount(ctypes.byref(count))
if status:
    raise SystemExit(f"cuInit or cuDeviceGetCount fails with error {status}")
version = ctypes.c_int()
driver.cuDriverGetVersion(ctypes.byref(version))
print(count.value, version.value // 1000)
"""


def _cuda(mx):
    devices = mx.num_gpus()
    if devices:
        kind = " virtual" if mx.env.get("MXCY_VIRTUAL_DEVICES") else ""
        yield Finding("CUDA", True, f"{devices}{kind} devices mx.gpu(i)")
        return
    answer, error = _probe(_CUDA)
    count, version = (answer or "0 0").split()
    if answer is None:
        mend = "apt-get install nvidia-driver"
        yield Finding("CUDA", False, f"no usable driver: {error}", mend)
    elif count == "0":
        yield Finding("CUDA", False, "the driver sees no device", "nvidia-smi")
    elif importlib.util.find_spec("cupy") is None:
        detail = f"the driver sees {count} devices, but CuPy is not installed"
        yield Finding("CUDA", False, detail, f"pip install 'cupy-cuda{version}x>=14.2,<15'")
    else:
        detail = f"the driver sees {count} devices, but mxcy does not use them (docs/gpu.md)"
        yield Finding("CUDA", False, detail)


def findings():
    """Check the components of mxcy.

    Returns
    -------
    list of Finding
    """
    mx, error = _import()
    if mx is None:
        return [_import_finding(error)]
    parts = [Finding("mxcy", True, mx.__version__)]
    for ask in (_fronts, _library, _onednn, _opencv, _mpi, _cuda):
        try:
            parts.extend(ask(mx))
        except Exception as problem:  # one broken component must not hide the others
            detail = f"{type(problem).__name__}: {problem}".splitlines()[0]
            parts.append(Finding(ask.__name__.strip("_"), False, detail))
    return parts


def extras():
    """The optional dependencies of mxcy.

    Returns
    -------
    dict of str to list of (str, str or None)
        Extra -> (package, version), the version None if it is not installed.
    """
    try:
        wanted = importlib.metadata.requires("mxcy") or []
    except importlib.metadata.PackageNotFoundError:
        return {}
    packages = {}
    for requirement in wanted:
        extra = re.search(r"extra == ['\"]([\w-]+)['\"]", requirement)
        name = re.match(r"[\w.-]+", requirement).group()
        if extra and name != "mxcy":
            packages.setdefault(extra.group(1), []).append((name, _version(name)))
    return packages


def _version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


# --- sections ------------------------------------------------------------------------------------


def _report_python():
    yield "version", platform.python_version()
    yield "compiler", platform.python_compiler()
    yield "build", " ".join(platform.python_build())
    yield "executable", sys.executable
    yield "prefix", sys.prefix


def _report_pip():
    spec = importlib.util.find_spec("pip")
    yield "version", _version("pip") or "pip is not installed"
    if spec:
        yield "folder", os.path.dirname(spec.origin)
    yield "numpy", _version("numpy") or "not installed: pip install numpy"


def _report_mxnet():
    mx, error = _import()
    yield "folder", str(_PACKAGE)
    if mx is None:
        yield "import", _import_finding(error).detail
        return
    yield "version", mx.__version__
    yield "library", mx.libinfo.find_lib_path()[0]
    yield "front", importlib.import_module("mxcy._library.front").package.strip("_")
    yield "features", " ".join(map(str, mx.runtime.feature_list()))


def _report_os():
    yield "platform", platform.platform()
    yield "version", platform.version()
    yield "libc", " ".join(platform.libc_ver())


def _report_hardware():
    yield "machine", platform.machine()
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        yield "memory", f"{memory / 2**30:.1f} GiB"
    except (OSError, ValueError):
        pass
    mx, _ = _import()
    if mx is None:
        yield "processors", str(os.cpu_count())
        return
    try:
        known = mx.runtime.threads()
    except ImportError as error:
        yield "threads", f"{error}: pip install threadpoolctl"
        return
    for name, value in known.items():
        entries = value if isinstance(value, list) else [value]
        yield name, "; ".join(map(str, entries))


def _report_environment():
    mx, _ = _import()
    if mx is None:
        return
    for entry in mx.env.report():
        if mx.env.is_set(entry["name"]):
            yield entry["name"], f"{entry['value']} ({entry['status']})"
    for problem in mx.env.problems():
        yield "problem", problem


def _report_parts():
    for finding in findings():
        yield finding.part, f"{'✔' if finding.usable else '✖'} {finding.detail}"
        if finding.command:
            yield "", f"  to fix: {finding.command}"
    for extra, packages in extras().items():
        there = [f"{name} {version}" for name, version in packages if version]
        absent = [name for name, version in packages if not version]
        detail = "; ".join(filter(None, [", ".join(there), absent and f"not {', '.join(absent)}"]))
        yield f"mxcy[{extra}]", f"{'✖' if absent else '✔'} {detail}"


def _report_network(timeout=10):
    mx, _ = _import()
    data = {"MXNET_GLUON_REPO": mx.env.get("MXNET_GLUON_REPO")} if mx else {}
    for name, address in {**_SERVERS, **data}.items():
        if not str(address).startswith(("http:", "https:")):
            yield name, f"{address}: no address"
            continue
        began = time.perf_counter()
        try:
            with urllib.request.urlopen(address, timeout=timeout) as answer:
                detail = f"status {answer.status}"
        except OSError as error:
            detail = str(error)
        yield name, f"{address}: {detail} after {time.perf_counter() - began:.2f} s"


def report(sections=None):
    """Make the report.

    Parameters
    ----------
    sections : iterable of str, optional
        Sections to include, by default all but ``network``.

    Returns
    -------
    str
    """
    lines = []
    for section in sections or [name for name in _SECTIONS if name != "network"]:
        lines += ["", f"---------- {section}: {_SECTIONS[section]}"]
        lines += [
            f"{name:<16}: {detail}" if name else detail for name, detail in _reports[section]()
        ]
    return "\n".join(lines[1:])


_reports = {name: globals()[f"_report_{name}"] for name in _SECTIONS}


def main(arguments=None):
    """Print the report; the exit status is 1 if mxcy cannot be imported."""
    parser = argparse.ArgumentParser(
        prog="python -m mxcy.diagnose",
        description="Print information about Python, mxcy and this machine for bug reports.",
    )
    for name, doc in _SECTIONS.items():
        default = int(name != "network")
        parser.add_argument(f"--{name}", type=int, choices=(0, 1), default=default, help=doc)
    chosen = vars(parser.parse_args(arguments))
    print(report([name for name in _SECTIONS if chosen[name]]))
    return int(_import()[0] is None)


if __name__ == "__main__":
    sys.exit(main())
