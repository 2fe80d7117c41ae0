"""Sums of the arrays of several processes; see kernels/include/mxcy_sums.h."""

import ctypes
from collections.abc import Sequence

import numpy as np

from mxcy._base.dtypes import code_of
from mxcy._library.open import open_library

__all__ = ["sum_arrays"]

_sum = open_library().mx_sum_arrays
_memory = ctypes.c_void_p
_sum.argtypes = [ctypes.c_int32, ctypes.c_int64, _memory, ctypes.c_int64, _memory, _memory]
_sum.restype = ctypes.c_bool


def sum_arrays(
    terms: Sequence[np.ndarray], out: np.ndarray | None, shared: np.ndarray | None = None
) -> None:
    """Sum arrays in their order; the call releases the GIL.

    Parameters
    ----------
    terms : sequence of numpy.ndarray
        Two or more, of one length; NumPy converts those of another dtype. Integers wrap around.
    out : numpy.ndarray or None
        Contiguous; takes the sum. It may be one of the terms.
    shared : numpy.ndarray, optional
        Takes the sum, too, for other cores; none of the terms.

    Raises
    ------
    ValueError
        If the lengths differ.
    TypeError
        For dtypes without sums.
    """
    targets = [array for array in (out, shared) if array is not None]
    kind, size = targets[0].dtype, targets[0].size
    terms = [np.ascontiguousarray(term, kind) for term in terms]
    if any(array.size != size for array in (*terms, *targets)):
        raise ValueError(f"sum_arrays: expected arrays of {size} elements")
    addresses = np.array([term.ctypes.data for term in terms], np.int64)
    places = [None if array is None else array.ctypes.data for array in (out, shared)]
    if not _sum(code_of(kind.name), len(terms), addresses.ctypes.data, size, *places):
        raise TypeError(f"sum_arrays: arrays of {kind.name}")
