"""Scattered memory copies in a single call; see kernels/include/mxcy_parts.h."""

import ctypes

import numpy as np

from mxcy._library.open import open_library

__all__ = ["copy_parts"]

_copy = open_library().mx_copy_parts
_copy.argtypes = [ctypes.c_int64, *[ctypes.c_void_p] * 3]
_copy.restype = None


def copy_parts(targets: np.ndarray, sources: np.ndarray, sizes: np.ndarray) -> None:
    """Copy several blocks of memory, releasing the GIL.

    Parameters
    ----------
    targets, sources, sizes : numpy.ndarray of int64
        The addresses and the number of bytes of each block.
    """
    _copy(len(sizes), targets.ctypes.data, sources.ctypes.data, sizes.ctypes.data)
