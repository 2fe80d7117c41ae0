"""Copies to memory that other cores read next; see kernels/include/mxcy_stream.h."""

import ctypes

import numpy as np

from mxcy._library.open import open_library

__all__ = ["stream"]

_stream = open_library().mx_stream
_stream.argtypes = [ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p]
_stream.restype = None


def stream(out: np.ndarray, source: np.ndarray) -> None:
    """Copy an array past the caches of this core, to memory that other cores read next.

    Parameters
    ----------
    out : numpy.ndarray
        Contiguous.
    source : numpy.ndarray
        Of the same shape; NumPy converts other dtypes, and gathers what is not contiguous.

    Raises
    ------
    ValueError
        If the shapes differ.
    """
    if source.shape != out.shape:
        raise ValueError(f"stream: expected the shape {out.shape}, got {source.shape}")
    source = np.ascontiguousarray(source, out.dtype)
    _stream(out.nbytes, source.ctypes.data, out.ctypes.data)
