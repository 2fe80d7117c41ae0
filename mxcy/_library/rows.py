"""Rows of tables for messages; see kernels/include/mxcy_rows.h. All calls release the GIL."""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from mxcy._base.dtypes import code_of
from mxcy._base.errors import kernel_error
from mxcy._library.open import open_library
from mxcy._library.tensor import Tensor

__all__ = [
    "copy_rows",
    "deal_rows",
    "find_rows",
    "own_rows",
    "sum_rows",
    "sum_rows_at",
    "update_by_sums",
]

_library = open_library()
_copy, _deal, _find, _own, _sum, _sum_at, _update = (
    _library.mx_copy_rows,
    _library.mx_deal_rows,
    _library.mx_find_rows,
    _library.mx_own_rows,
    _library.mx_sum_rows,
    _library.mx_sum_rows_at,
    _library.mx_update_by_sums,
)
_code, _number, _memory = ctypes.c_int32, ctypes.c_int64, ctypes.c_void_p
_copy.argtypes = [_number, _memory, _memory, _number, _memory, _memory, ctypes.c_bool]
_deal.argtypes = [_number, _memory, _number, *[_memory] * 3]
_find.argtypes = [_number, _memory, _number, _memory, _memory]
_sum.argtypes = [_code, _number, *[_memory] * 4, _number, *[_memory] * 3, ctypes.c_bool]
_own.argtypes = [_number, _memory, _number, _number, _memory, _memory]
_sum_at.argtypes = [_code, _number, _memory, _number, *[_memory] * 3, _number, *[_memory] * 2]
_update.argtypes = [
    ctypes.c_char_p,
    _code,
    ctypes.c_char_p,
    _number,
    _memory,
    _number,
    *[_memory] * 4,
    _number,
    _memory,
]
_copy.restype = _deal.restype = _find.restype = None
_library.mx_last_error.restype = ctypes.c_char_p
_own.restype = _sum.restype = _number
_sum_at.restype = ctypes.c_bool


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
    counts, (local, places) = np.empty(owners, np.int64), np.empty((2, ids.size), np.int64)
    _deal(
        ids.size, ids.ctypes.data, owners, counts.ctypes.data, places.ctypes.data, local.ctypes.data
    )
    return counts, places, local


def own_rows(ids: np.ndarray, owners: int, owner: int) -> tuple[np.ndarray, np.ndarray]:
    """Select the ids of one owner, in order; see `deal_rows`.

    Parameters
    ----------
    ids : numpy.ndarray of int64
    owners, owner : int

    Returns
    -------
    local, places : numpy.ndarray of int64
        The owner's ids divided by the number of owners, and their positions in `ids`.
    """
    local, places = np.empty((2, ids.size), np.int64)
    count = _own(ids.size, ids.ctypes.data, owners, owner, local.ctypes.data, places.ctypes.data)
    return local[:count], places[:count]


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


def copy_rows(
    rows: np.ndarray,
    out: np.ndarray,
    places: np.ndarray | None = None,
    targets: np.ndarray | None = None,
    stream: bool = False,
) -> None:
    """Copy rows to other places.

    Parameters
    ----------
    rows : numpy.ndarray
        Contiguous.
    out : numpy.ndarray
        Contiguous, of the dtype of the rows and with a first axis.
    places : numpy.ndarray of int64, optional
        Of the rows to copy; negative ones yield zeros. The first ones by default.
    targets : numpy.ndarray of int64, optional
        Where each row goes in `out`; the first rows by default. Bounds are not checked.
    stream : bool
        Whether `out` is read by other cores next, not by this one.
    """
    count = len(out) if targets is None else len(targets)
    count = count if places is None else len(places)
    if count and out.size:
        source, target = rows.ctypes.data, out.ctypes.data
        _copy(count, _address(places), _address(targets), out[0].nbytes, source, target, stream)


def _address(array: np.ndarray | None) -> int | None:
    return None if array is None else array.ctypes.data


def sum_rows(
    terms: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray | None]],
    ids: np.ndarray,
    sums: np.ndarray,
    stream: bool = False,
) -> int:
    """Sum rows of several arrays that store some rows, each row in the order of the arrays.

    Parameters
    ----------
    terms : sequence of (numpy.ndarray of int64, numpy.ndarray, numpy.ndarray of int64 or None)
        Ascending ids of each array, its rows, contiguous, and the place of each id's row; None: in
        order.
    ids : numpy.ndarray of int64
        Takes the ids of the sum; with space for those of all arrays.
    sums : numpy.ndarray
        Takes the rows of the sum.
    stream : bool
        Whether `sums` is read by other cores next, not by this one.

    Returns
    -------
    int
        The number of rows of the sum.

    Raises
    ------
    MemoryError
    """
    counts, columns, places = _described(terms)
    count = _sum(
        code_of(sums.dtype.name),
        len(terms),
        counts.ctypes.data,
        *(column.ctypes.data for column in columns),
        sums[0].nbytes if len(sums) else 0,
        places.ctypes.data,
        ids.ctypes.data,
        sums.ctypes.data,
        stream,
    )
    if count < 0:
        raise MemoryError("the sum of two rows")
    return count


def _described(
    terms: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray | None]],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The numbers of rows of terms, the addresses of their ids, places and rows, and memory."""
    counts = np.array([numbers.size for numbers, _, _ in terms], np.int64)
    addresses = [
        0 if array is None else array.ctypes.data
        for numbers, rows, places in terms
        for array in (numbers, places, rows)
    ]
    columns = np.array(addresses, np.int64).reshape(-1, 3).T.copy()
    return counts, columns, np.empty(2 * len(terms), np.int64)


def update_by_sums(
    kernel: str,
    params: bytes | None,
    tables: Sequence[np.ndarray],
    terms: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray | None]],
) -> None:
    """Update a table by the sums of rows, as if `sum_rows` was followed by a kernel.

    Parameters
    ----------
    kernel : str
        Takes the table, rows, their ids and states, and changes only these rows.
    params : bytes or None
        Its parameters.
    tables : sequence of numpy.ndarray
        The table and the states, contiguous, of the dtype of the rows.
    terms : sequence of tuple
        See `sum_rows`.

    Raises
    ------
    MXNetError
        When the kernel fails; it may have changed some rows then.
    """
    counts, columns, places = _described(terms)
    shapes = [np.array(table.shape, np.int64) for table in tables]
    dtype = code_of(tables[0].dtype.name)
    described = (Tensor * len(tables))(
        *(
            Tensor(table.ctypes.data, shape.ctypes.data, None, table.ndim, dtype)
            for table, shape in zip(tables, shapes, strict=True)
        )
    )
    status = _update(
        kernel.encode(),
        dtype,
        params,
        len(tables),
        ctypes.addressof(described),
        len(terms),
        counts.ctypes.data,
        *(column.ctypes.data for column in columns),
        tables[0][:1].nbytes,
        places.ctypes.data,
    )
    if status:
        raise kernel_error(f"{kernel}: ", _library.mx_last_error().decode())


def sum_rows_at(
    ids: np.ndarray, terms: Sequence[tuple[np.ndarray, np.ndarray, Any]], out: np.ndarray
) -> None:
    """Sum some rows of several arrays that store some rows, each row in the order of the arrays.

    Parameters
    ----------
    ids : numpy.ndarray of int64
        Of the rows; ascending and distinct.
    terms : sequence of tuple
        Ascending ids of each array, its rows, contiguous, and what else belongs to it.
    out : numpy.ndarray
        Takes the sums; zeros where no array has the row.

    Raises
    ------
    TypeError
        For dtypes without sums.
    """
    if not out.size:
        return
    counts = np.array([numbers.size for numbers, *_ in terms], np.int64)
    addresses = [array.ctypes.data for numbers, rows, *_ in terms for array in (numbers, rows)]
    ids_of, rows_of = np.array(addresses, np.int64).reshape(-1, 2).T.copy()
    places = np.empty(len(terms), np.int64)  # named, so that no other thread gets it meanwhile
    known = _sum_at(
        code_of(out.dtype.name),
        ids.size,
        ids.ctypes.data,
        len(terms),
        counts.ctypes.data,
        ids_of.ctypes.data,
        rows_of.ctypes.data,
        out[0].nbytes,
        places.ctypes.data,
        out.ctypes.data,
    )
    if not known:
        raise TypeError(f"sum_rows_at: rows of {out.dtype}")
