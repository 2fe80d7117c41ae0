"""Rows of tables for messages; see kernels/include/mxcy_rows.h. All calls release the GIL."""

import ctypes
from collections.abc import Sequence

import numpy as np

from mxcy._base.dtypes import code_of
from mxcy._library.open import open_library

__all__ = ["deal_rows", "find_rows", "gather_rows", "scatter_rows", "sum_rows"]

_library = open_library()
_deal, _find, _gather, _scatter, _sum = (
    _library.mx_deal_rows,
    _library.mx_find_rows,
    _library.mx_gather_rows,
    _library.mx_scatter_rows,
    _library.mx_sum_rows,
)
_number, _memory = ctypes.c_int64, ctypes.c_void_p
_deal.argtypes = [_number, _memory, _number, *[_memory] * 3]
_find.argtypes = [_number, _memory, _number, _memory, _memory]
_gather.argtypes = _scatter.argtypes = [_number, _memory, _number, _memory, _memory]
_sum.argtypes = [ctypes.c_int32, _number, *[_memory] * 3, _number, *[_memory] * 3]
_deal.restype = _find.restype = _gather.restype = _scatter.restype = None
_sum.restype = _number


def deal_rows(ids: np.ndarray, owners: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Group ids by their owners, the ids modulo the number of owners; in order within a group.

    Parameters
    ----------
    ids : numpy.ndarray of int64
    owners : int

    Returns
    -------
    counts : numpy.ndarray of int64
        The number of ids of each owner.
    places, local : numpy.ndarray of int64
        Positions in `ids`, and the ids divided by the number of owners.
    """
    counts, places, local = (np.empty(size, np.int64) for size in (owners, ids.size, ids.size))
    _deal(
        ids.size, ids.ctypes.data, owners, counts.ctypes.data, places.ctypes.data, local.ctypes.data
    )
    return counts, places, local


def find_rows(ids: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Find ascending ids in a list of other ascending ids.

    Parameters
    ----------
    ids, others : numpy.ndarray of int64

    Returns
    -------
    numpy.ndarray of int64
        The position of each id, or -1.
    """
    places = np.empty(ids.size, np.int64)
    _find(ids.size, ids.ctypes.data, others.size, others.ctypes.data, places.ctypes.data)
    return places


def gather_rows(rows: np.ndarray, places: np.ndarray, out: np.ndarray) -> None:
    """Copy the rows at some places.

    Parameters
    ----------
    rows : numpy.ndarray
        Contiguous.
    places : numpy.ndarray of int64
        Within bounds, which are not checked; negative ones yield zeros.
    out : numpy.ndarray
        Contiguous; takes the rows.
    """
    if places.size:
        bytes_of_row = out.nbytes // places.size
        _gather(places.size, places.ctypes.data, bytes_of_row, rows.ctypes.data, out.ctypes.data)


def scatter_rows(rows: np.ndarray, places: np.ndarray, out: np.ndarray) -> None:
    """Write rows to some places.

    Parameters
    ----------
    rows : numpy.ndarray
        Contiguous.
    places : numpy.ndarray of int64
        Within bounds, which are not checked.
    out : numpy.ndarray
        Contiguous.
    """
    if places.size:
        bytes_of_row = out[0].nbytes
        _scatter(places.size, places.ctypes.data, bytes_of_row, rows.ctypes.data, out.ctypes.data)


def sum_rows(
    terms: Sequence[tuple[np.ndarray, np.ndarray]], ids: np.ndarray, sums: np.ndarray
) -> int:
    """Sum rows of several arrays that store some rows, each row in the order of the arrays.

    Parameters
    ----------
    terms : sequence of (numpy.ndarray of int64, numpy.ndarray)
        Ascending ids and the rows of each array, contiguous.
    ids : numpy.ndarray of int64
        Takes the ids of the sum; with space for those of all arrays.
    sums : numpy.ndarray
        Takes the rows of the sum.

    Returns
    -------
    int
        The number of rows of the sum.
    """
    counts = np.array([numbers.size for numbers, _ in terms], np.int64)
    addresses = np.array([[array.ctypes.data for array in term] for term in terms], np.int64).T
    addresses, places = np.ascontiguousarray(addresses), np.empty(2 * len(terms), np.int64)
    return _sum(
        code_of(sums.dtype.name),
        len(terms),
        counts.ctypes.data,
        addresses[0].ctypes.data,
        addresses[1].ctypes.data,
        sums[0].size if len(sums) else 0,
        places.ctypes.data,
        ids.ctypes.data,
        sums.ctypes.data,
    )
