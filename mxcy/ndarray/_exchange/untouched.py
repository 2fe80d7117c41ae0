"""Zeros that take no memory before somebody writes them: gradients that nobody may compute."""

import math
import mmap

import numpy as np

from mxcy._base.dtypes import code_of, dtype_of
from mxcy._library import front
from mxcy.ndarray._functions.creation import zeros

__all__ = ["untouched_zeros"]

_LARGE = 1 << 20  # bytes from which pages of their own pay


def untouched_zeros(shape, ctx, dtype):
    """An array of zeros whose memory the system provides, page by page, once it is touched.

    Networks that only predict have gradients as large as their parameters which nobody computes.

    Parameters
    ----------
    shape : tuple of int
    ctx : Context
        Small arrays, and those on other devices than the CPU, are made as `zeros` makes them.
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
