"""Build the stand-ins: libcuda, libcublas and, if CuPy and Cython are installed, the seam.

    python -m tests.gpu.standin.build [driver]

All files are in one folder, named by a hash of the sources.
"""

import fcntl
import functools
import hashlib
import importlib.util
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

from tests.gpu.standin.compiler import CACHE, CXX

__all__ = ["build_cudnn", "build_driver", "build_seam"]

HERE = Path(__file__).parent
DRIVER = "libcuda_standin.so"  # not libcuda.so.1, which real CUDA runtimes would load, and crash
CUBLAS = "libcublas.so.13"
CUDNN = "libcudnn_standin.so"  # the real cuDNN makes the plans
CUDA_FOR_PLANS = "libcuda.so.1"  # libcuda for the real cuDNN
SEAM = ("standin_runtime", "standin_driver")
FLAGS = ("-O1", "-g", "-std=c++17", "-fPIC", "-shared", "-w")


def _run(*command):
    subprocess.run([str(word) for word in command], check=True)


@functools.cache
def _folder():
    digest = hashlib.sha256(sys.version.encode())
    sources = (p for p in HERE.rglob("*") if p.suffix in {".cc", ".h", ".pyx", ".pxd"})
    for path in (Path(__file__), *sorted(sources)):
        digest.update(path.read_bytes())
    folder = CACHE / f"build-{digest.hexdigest()[:16]}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _built_once(make):
    """Call ``make(target)`` once among all processes; the target appears when complete."""

    @functools.wraps(make)
    def built(name):
        target = _folder() / name
        with open(_folder() / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not target.exists():
                draft = target.with_name(f"draft-{name}")
                make(draft)
                draft.rename(target)
        return target

    return built


@_built_once
def _driver(target):
    sources = sorted((HERE / "driver").glob("*.cc"))
    _run(
        *(CXX, *FLAGS, "-fvisibility=hidden", *sources, "-o", target),
        *(f"-Wl,-soname,{DRIVER}", "-Wl,-Bsymbolic", "-ldl"),
    )


def _link_driver():
    return ("-L", _folder(), f"-l:{DRIVER}", f"-Wl,-rpath,{_folder()}")


def _functions_cupy_links_to():
    """Return the cuBLAS functions that CuPy's modules link to."""
    (root,) = importlib.util.find_spec("cupy_backends").submodule_search_locations
    for library in Path(root, "cuda", "libs").glob("cublas*.so"):
        table = subprocess.run(
            ["nm", "-D", "--undefined-only", library], capture_output=True, text=True, check=True
        ).stdout
        yield from re.findall(r"\bcublas\w+", table)


@_built_once
def _cublas(target):
    known = HERE / "cublas.cc"
    first = target.with_name("cublas_alone.so")
    _run(CXX, *FLAGS, "-fvisibility=hidden", known, "-o", first, *_link_driver())
    exported = subprocess.run(
        ["nm", "-D", first], capture_output=True, text=True, check=True
    ).stdout
    missing = set(_functions_cupy_links_to()) - set(re.findall(r" T (cublas\w+)", exported))
    refusals = target.with_name("refusals.cc")
    refusals.write_text(
        "#include <stdio.h>\n"
        '#define REFUSE(name) extern "C" __attribute__((visibility("default"))) int name() '
        '{ return fputs("the stand-in lacks " #name "\\n", stderr), 15; }\n'
        + "".join(f"REFUSE({name})\n" for name in sorted(missing))
    )
    options = ("-fvisibility=hidden", f"-Wl,-soname,{CUBLAS}")
    _run(CXX, *FLAGS, *options, known, refusals, "-o", target, *_link_driver())


@_built_once
def _cudnn(target):
    options = ("-fvisibility=hidden", f"-Wl,-soname,{CUDNN}")
    _run(CXX, *FLAGS, *options, HERE / "cudnn.cc", "-o", target, *_link_driver())


@_built_once
def _cuda_for_plans(target):
    options = ("-fvisibility=hidden", f"-Wl,-soname,{CUDA_FOR_PLANS}")
    _run(CXX, *FLAGS, *options, HERE / "cuda_for_plans.cc", "-o", target)


@_built_once
def _seam_module(target):
    name = target.name.removeprefix("draft-").removesuffix(".so")
    sources, generated = HERE / "cupy_seam", target.with_name(f"{name}.cpp")
    cython = (sys.executable, "-m", "cython", "--cplus", "-3", "-I", sources)
    _run(*cython, sources / f"{name}.pyx", "-o", generated)
    includes = (f"-I{sysconfig.get_paths()['include']}", f"-I{sources}")
    _run(CXX, *FLAGS, *includes, generated, "-o", target, *_link_driver())


def build_driver():
    """Build the stand-in for libcuda.

    Returns
    -------
    Path
        The library.
    """
    return _driver(DRIVER)


def build_cudnn():
    """Build the library that runs plans of the real cuDNN, and the libcuda it needs.

    Returns
    -------
    (Path, Path)
        The libraries.
    """
    build_driver()
    return _cudnn(CUDNN), _cuda_for_plans(CUDA_FOR_PLANS)


def build_seam():
    """Build the seam that runs the real CuPy on the stand-in.

    Returns
    -------
    Path
        The folder with the extension modules of the seam and ``libcublas.so.13``.
    """
    build_driver()
    _cublas(CUBLAS)
    for name in SEAM:
        _seam_module(f"{name}.so")
    return _folder()


if __name__ == "__main__":
    print(build_driver() if sys.argv[1:] == ["driver"] else build_seam())
