"""Call single native kernels on NumPy arrays, for tests of the kernel table."""

import ctypes
from functools import cache

import numpy as np

from mxcy._base import dtypes
from mxcy._library.open import open_library

__all__ = ["library", "has_kernel", "query_kernel", "run_kernel"]

_QUERIES = {"accepts": 0, "workspace": 1, "packed": 2}


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("ndim", ctypes.c_int32),
        ("dtype", ctypes.c_int32),
    ]


class _Call(ctypes.Structure):
    _fields_ = [
        ("nin", ctypes.c_int32),
        ("nout", ctypes.c_int32),
        ("ins", ctypes.POINTER(_Tensor)),
        ("outs", ctypes.POINTER(_Tensor)),
        ("req", ctypes.POINTER(ctypes.c_int32)),
        ("params", ctypes.c_char_p),
        ("workspace", ctypes.c_void_p),
        ("workspace_size", ctypes.c_size_t),
        ("rng", ctypes.c_void_p),
        ("threads", ctypes.c_int32),
        ("state", ctypes.c_void_p),
    ]


@cache
def library():
    """libmxcy.so, initialised with a team of two."""
    lib = open_library()
    lib.mx_last_error.restype = ctypes.c_char_p
    lib.mx_kernel_query.restype = ctypes.c_int64
    lib.mx_kernel_query.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int32]
    lib.mx_init.argtypes = [ctypes.c_int32, ctypes.c_int32, ctypes.c_int64]
    lib.mx_kernel_find.restype = ctypes.c_void_p
    lib.mx_kernel_find.argtypes = [ctypes.c_char_p, ctypes.c_int32, ctypes.c_void_p]
    if lib.mx_init(0, 2, 200000) != 0:
        raise RuntimeError(lib.mx_last_error().decode())
    return lib


def _tensor(array, code):
    if array is None:
        return _Tensor(None, None, None, 0, code)
    shape = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
    return _Tensor(array.ctypes.data, shape, None, array.ndim, code)


def _code(array, half):
    # bfloat16 arrays travel as uint16 here.
    return (
        dtypes.code_of("bfloat16")
        if half == "bfloat16" and array.dtype == np.uint16
        else dtypes.code_of(array.dtype)
    )


def has_kernel(name, dtype="float32"):
    """Whether the table has a kernel."""
    return bool(library().mx_kernel_find(name.encode(), dtypes.code_of(dtype), None))


def query_kernel(name, ins, outs, params=None, what="accepts"):
    """Query a kernel for arrays like these; raises RuntimeError with its message.

    `what` is "accepts", "workspace" or "packed"; a kernel that accepts answers 1.
    """
    in_tensors = (_Tensor * max(len(ins), 1))(*(_tensor(x, _code(x, None)) for x in ins))
    out_tensors = (_Tensor * len(outs))(*(_tensor(x, _code(x, None)) for x in outs))
    call = _Call(len(ins), len(outs), in_tensors, out_tensors, None, params)
    answer = library().mx_kernel_query(name.encode(), ctypes.byref(call), _QUERIES[what])
    if answer < 0 or (what == "accepts" and answer == 0):
        raise RuntimeError(library().mx_last_error().decode())
    return answer


def run_kernel(name, ins, outs, params=None, req=None, threads=1, workspace=0, half=None):
    """Run a kernel on contiguous arrays, outputs included; raises RuntimeError with its message.

    `half="bfloat16"` takes uint16 arrays for bfloat16 bits. An output None has request null.
    """
    lib = library()
    ins = [np.ascontiguousarray(x) for x in ins]
    codes = [_code(x, half) for x in (*ins, *outs) if x is not None]
    address = lib.mx_kernel_find(name.encode(), codes[0], None)
    if not address:
        raise KeyError(f"{name} for {dtypes.name_of(codes[0])}")
    in_tensors = (_Tensor * max(len(ins), 1))(*(_tensor(x, _code(x, half)) for x in ins))
    out_tensors = (_Tensor * len(outs))(
        *(_tensor(x, codes[0] if x is None else _code(x, half)) for x in outs)
    )
    requests = req or [0 if x is None else 1 for x in outs]
    scratch = np.empty(workspace + 64, np.uint8)
    call = _Call(
        len(ins),
        len(outs),
        in_tensors,
        out_tensors,
        (ctypes.c_int32 * len(outs))(*requests),
        params,
        scratch.ctypes.data + -scratch.ctypes.data % 64,
        workspace,
        None,
        threads,
    )
    kernel = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Call))(address)
    if kernel(ctypes.byref(call)) != 0:
        raise RuntimeError(lib.mx_last_error().decode())
    return outs[0] if len(outs) == 1 else outs
