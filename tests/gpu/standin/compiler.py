"""CUDA C source compiled by g++ and run on the CPU; ``cuda_text/`` has its headers.

>>> module = Module(text)
>>> module.run("softmax", grid=(64,), block=(256,), args=[x, y, np.int32(1000)])
"""

import ctypes
import functools
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

__all__ = [
    "CACHE",
    "CXX",
    "HEADERS",
    "LaunchError",
    "Module",
    "compile_text",
    "headers_digest",
    "instance_name",
    "kernel_names",
]

HEADERS = Path(__file__).parent / "cuda_text"
CXX = os.environ.get("MXCY_STANDIN_CXX") or shutil.which("g++")
FLAGS = (
    *("-O1", "-std=c++17", "-fPIC", "-shared", "-w", "-fvisibility=hidden"),
    *("-fno-strict-aliasing", "-ffp-contract=off", "-fno-math-errno"),
)
ORDERS = ("forward", "backward", "shuffled")


def _cache_folder():
    """Return a folder for compiled sources that only this user can write to."""
    default = Path(tempfile.gettempdir(), f"mxcy-standin-{os.getuid()}")
    folder = Path(os.environ.get("MXCY_STANDIN_CACHE", default))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        return Path(tempfile.mkdtemp(prefix="mxcy-standin-"))
    return folder


CACHE = _cache_folder()

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_BOUNDS = r"(?:__launch_bounds__\s*\([^)]*\)\s*)?"
_KERNEL = re.compile(rf"__global__\s+{_BOUNDS}void\s+{_BOUNDS}(\w+)\s*\(")
_DYNAMIC = re.compile(
    r"extern\s+__shared__\s+(?:__align__\s*\([^)]*\)\s*)?([\w ]+?)\s+(\w+)\s*\[\s*\]"
)
_MEETING = re.compile(r"__sync(?:threads|warp)|__shfl|__(?:ballot|any|all)_sync")


class LaunchError(RuntimeError):
    """An error in a kernel, its source or its arguments."""


class _LaunchSpec(ctypes.Structure):
    _fields_ = (
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared_bytes", ctypes.c_uint),
        ("order", ctypes.c_int),
        ("seed", ctypes.c_int),
        ("open_memory", ctypes.c_void_p),
        ("error", ctypes.c_char * 256),
    )


def _without_comments(text):
    return _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text)


def kernel_names(text):
    """Return the ``__global__`` functions of a CUDA source in order.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of str
    """
    return list(dict.fromkeys(_KERNEL.findall(_without_comments(text))))


def instance_name(expression):
    """Return the launchable name of a template instance such as ``"add<float>"``.

    Parameters
    ----------
    expression : str

    Returns
    -------
    str
    """
    return "instance_" + hashlib.sha256(expression.encode()).hexdigest()[:16]


def _translated(text, instances):
    """Return the source for g++: headers before, entries of the kernels after."""
    fibers = int(bool(_MEETING.search(_without_comments(text))))
    body = _DYNAMIC.sub(r"CUDA_TEXT_DYNAMIC_SHARED(\1, \2)", text)
    kernels = {instance_name(expression): expression for expression in instances}
    kernels = kernels or {name: name for name in kernel_names(text)}
    entries = "".join(
        f"CUDA_TEXT_KERNEL({name}, {fibers}, {expression})\n"
        for name, expression in kernels.items()
    )
    return f'#include "cuda_text.h"\n#line 1 "kernel.cu"\n{body}\n{entries}'


@functools.cache
def headers_digest():
    """Return a hash of the headers, on which compiled kernels depend."""
    digest = hashlib.sha256()
    for path in sorted(HEADERS.rglob("*.h")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


@functools.cache
def _precompiled():
    """Return a folder with the precompiled headers, which halve the time of short sources.

    g++ reads the headers themselves if options make the precompiled ones unfit.
    """
    key = hashlib.sha256(repr((CXX, FLAGS, headers_digest())).encode()).hexdigest()
    folder = CACHE / f"headers-{key[:16]}"
    result = folder / "cuda_text.h.gch"
    if not result.exists():
        folder.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as drafts:
            draft = Path(drafts, result.name)
            header = HEADERS / "cuda_text.h"
            command = [CXX, *FLAGS, "-x", "c++-header", header, "-o", draft]
            subprocess.run(command, capture_output=True, check=True)
            draft.replace(result)
    return folder


def compile_text(text, options=(), instances=()):
    """Compile a CUDA source for this CPU, cached.

    Parameters
    ----------
    text : str
    options : sequence of str
        Further options for g++, such as ``"-DNAME=1"``.
    instances : sequence of str
        Template instances to compile, such as ``"add<float>"``, instead of all kernels.

    Returns
    -------
    Path
        The shared library, in the folder MXCY_STANDIN_CACHE names.

    Raises
    ------
    LaunchError
        If g++ rejects the source.
    """
    source = _translated(text, instances)
    key = hashlib.sha256(repr((source, tuple(options), FLAGS, headers_digest())).encode())
    library = CACHE / f"{key.hexdigest()[:24]}.so"
    if library.exists():
        return library
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        file = Path(folder, "kernel.cc")
        file.write_text(source)
        output = file.with_suffix(".so")
        includes = (f"-I{_precompiled()}", f"-I{HEADERS}")
        command = [CXX, *FLAGS, *includes, *options, file, "-o", output]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode:
            raise LaunchError(f"g++ rejects the source:\n{result.stderr}")
        output.replace(library)
    return library


class Module:
    """The kernels of a CUDA source, run on NumPy arrays.

    Parameters
    ----------
    text : str
    options : sequence of str
    """

    def __init__(self, text, options=()):
        self.names = kernel_names(text)
        self._library = ctypes.CDLL(str(compile_text(text, options)))

    def run(self, name, grid, block, args, shared_bytes=0, order="forward", seed=0):
        """Run a kernel, one block after the other.

        Parameters
        ----------
        name : str
        grid, block : tuple of int
            Up to three sizes each.
        args : sequence of numpy.ndarray or numpy scalar
            An array passes its address; a scalar has exactly the parameter's type.
        shared_bytes : int
            Dynamic shared memory.
        order : {'forward', 'backward', 'shuffled'}
            Order in which blocks, warps and lanes run.
        seed : int
            Of the shuffled order.

        Raises
        ------
        LaunchError
            If the arguments do not match, or the kernel has undefined behaviour.
        """
        values = [
            np.uint64(arg.ctypes.data) if isinstance(arg, np.ndarray) else arg for arg in args
        ]
        self._check(name, values)
        buffers = [ctypes.create_string_buffer(value.tobytes()) for value in values]
        pointers = (ctypes.c_void_p * len(buffers))(*map(ctypes.addressof, buffers))
        spec = _LaunchSpec(shared_bytes=shared_bytes, order=ORDERS.index(order), seed=seed)
        spec.grid[:], spec.block[:] = (*grid, 1, 1)[:3], (*block, 1, 1)[:3]
        if getattr(self._library, f"cuda_launch_{name}")(ctypes.byref(spec), pointers):
            raise LaunchError(f"{name}: {spec.error.decode()}")

    def _check(self, name, values):
        sizes = (ctypes.c_int * 256)()
        count = getattr(self._library, f"cuda_sizes_{name}")(sizes)
        if count != len(values):
            raise LaunchError(f"{name} takes {count} arguments, got {len(values)}")
        for i, (value, size) in enumerate(zip(values, sizes, strict=False)):
            if value.nbytes != size:
                raise LaunchError(f"{name}: argument {i} has {value.nbytes} bytes, not {size}")
