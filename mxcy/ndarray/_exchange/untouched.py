"""Lazily allocated zeros, for gradients that may never be computed."""

import math
import mmap

import numpy as np

from mxcy._base.dtypes import code_of, dtype_of
from mxcy._library import front
from mxcy.ndarray._functions.creation import zeros

__all__ = ["untouched_zeros"]

_LARGE = 1 << 20  # minimum size in bytes for separate pages


def untouched_zeros(shape, ctx, dtype):
    """Make an array of zeros whose pages the system allocates at first access.

    In inference-only networks, gradients as large as the parameters are never computed.

    Parameters
    ----------
    shape : tuple of int
    ctx : Context
        Small arrays, and those on other devices than the CPU, are created by `zeros`.
    dtype : str, type or numpy.dtype

    Returns
    -------
    NDArray
    """
    code = code_of(dtype)
    size = math.prod(shape) * dtype_of(code).itemsize
    if size < _LARGE or ctx.device_type != "cpu":
        return zeros(shape, ctx=ctx, dtype=dtype)
    pages = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory = np.frombuffer(pages, np.uint8)
    return front.from_memory(memory.ctypes.data, memory, tuple(shape), code, ctx, replaceable=True)
