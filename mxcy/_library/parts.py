"""Copies of memory in many places by one call; see kernels/include/mxcy_parts.h."""

import ctypes

import numpy as np

from mxcy._library.open import open_library

__all__ = ["copy_parts"]

_copy = open_library().mx_copy_parts
_copy.argtypes = [ctypes.c_int64, *[ctypes.c_void_p] * 3]
_copy.restype = None


def copy_parts(targets: np.ndarray, sources: np.ndarray, sizes: np.ndarray) -> None:
    """Copy memory, while other threads go on.

    Parameters
    ----------
    targets, sources, sizes : numpy.ndarray of int64
        Of each part the addresses and the number of bytes.
    """
    _copy(len(sizes), targets.ctypes.data, sources.ctypes.data, sizes.ctypes.data)
