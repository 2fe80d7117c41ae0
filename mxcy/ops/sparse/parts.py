"""Parts of sparse arrays: inference and validation.

A csr array of shape (M, N) is data (nnz,), indices (nnz,) and indptr (M + 1,): row i stores the
entries from indptr[i] to indptr[i + 1]. A row_sparse array is data (n, *row) and indices (n,), the
stored rows. Indices and indptr are int64. Component operators take and return these parts
as ordinary arrays; storage types exist in the layers above only.
"""

from functools import partial

import numpy as np

from mxcy._base import dtypes
from mxcy._base.errors import MXNetError
from mxcy.ops.core.infer import require
from mxcy.ops.core.record import native

__all__ = [
    "INT64",
    "check_rows",
    "csr_params",
    "csr_problem",
    "csr_sample",
    "fill_csr",
    "fill_rows",
    "row_sparse_problem",
    "row_sparse_sample",
    "sparse_native",
    "stored_entries",
]

INT64 = dtypes.CODES["int64"]

#: a kernel that follows int64 indices: timing it on zeros would be meaningless
sparse_native = partial(native, tried=False, mixed=True)


# --- inference -----------------------------------------------------------------------------------


def fill_csr(data, indices, indptr, prefix=""):
    """Unify the specs of a csr array's parts (structure only if data is None).

    Returns
    -------
    int
        The number of rows, -1 if unknown.
    """
    parts = ((data, "data"), (indices, "indices")) if data is not None else ((indices, "indices"),)
    for spec, name in parts:
        spec.fill(prefix + name, (-1,))
    if data is not None:
        data.fill(f"{prefix}data", indices.shape)
        indices.fill(f"{prefix}indices", data.shape)
    indices.fill(f"{prefix}indices", dtype=INT64)
    indptr.fill(f"{prefix}indptr", (-1,), INT64)
    rows = indptr.shape[0]
    require(rows != 0, f"{prefix}indptr: must have at least one element")
    return max(rows - 1, -1)


def fill_rows(data, indices, prefix=""):
    """Unify the specs of a row_sparse array's parts.

    Returns
    -------
    tuple of int or None
        The shape of a row, None if unknown.
    """
    indices.fill(f"{prefix}indices", (-1,), INT64)
    if data.shape is None:
        return None
    require(data.ndim >= 1, f"{prefix}data: needs at least one dimension")
    data.fill(f"{prefix}data", (*indices.shape, *data.shape[1:]))
    indices.fill(f"{prefix}indices", data.shape[:1])
    return data.shape[1:]


def csr_params(a, ins, outs):
    """Return the kernel parameters of a csr array of ``a.columns`` columns."""
    return {"columns": a.columns, "transposed": getattr(a, "transpose_b", False)}


# --- values --------------------------------------------------------------------------------------


def stored_entries(xp, indices, indptr, columns):
    """Return the row of every stored entry, and the slice of data and indices that holds them.

    Raises
    ------
    MXNetError
        If an entry is out of bounds or the indptr is invalid.
    """
    lengths = xp.diff(indptr)
    if indptr[0] < 0 or (lengths < 0).any() or indptr[-1] > len(indices):
        raise MXNetError(f"indptr: must increase from 0 to at most {len(indices)}")
    stored = slice(int(indptr[0]), int(indptr[-1]))
    chosen = indices[stored]
    if chosen.size and (chosen.min() < 0 or chosen.max() >= columns):
        raise MXNetError(f"indices: out of bounds for {columns} columns")
    return xp.repeat(xp.arange(len(lengths)), lengths), stored


def check_rows(xp, indices, rows):
    """Check that row indices are in bounds, sorted and distinct.

    Raises
    ------
    MXNetError
    """
    problem = row_sparse_problem(indices, len(indices), (rows,))
    if problem is not None:
        raise MXNetError(problem)


def csr_problem(indices, indptr, nnz, shape, full=True):
    """Return the error in the parts of a csr array, None if they are valid.

    Parameters
    ----------
    indices, indptr : numpy.ndarray
    nnz : int
        Length of data.
    shape : tuple of int
    full : bool
        Whether to check values, too.

    Returns
    -------
    str or None
    """
    if len(shape) != 2 or indptr.shape != (shape[0] + 1,) or indices.shape != (nnz,):
        return (
            f"shapes: data ({nnz},), indices {indices.shape} and indptr {indptr.shape} do not fit"
            f" an array of shape {tuple(shape)}"
        )
    if not full:
        return None
    if indptr[0] != 0 or indptr[-1] != nnz:
        return f"indptr: must go from 0 to {nnz}, the number of stored entries"
    if (np.diff(indptr) < 0).any():
        return "indptr: must not decrease"
    if nnz and (indices.min() < 0 or indices.max() >= shape[1]):
        return f"indices: out of bounds for {shape[1]} columns"
    steps = np.diff(indices)
    steps[(starts := indptr[1:-1] - 1)[(starts >= 0) & (starts < nnz - 1)]] = 1  # between rows
    return None if (steps > 0).all() else "indices: must be sorted and distinct in each row"


def row_sparse_problem(indices, stored, shape, full=True):
    """Return the error in the parts of a row_sparse array of `stored` rows; see `csr_problem`."""
    if indices.shape != (stored,):
        return f"shapes: {stored} rows are stored, but the shape of indices is {indices.shape}"
    if not full or not stored:
        return None
    if indices.min() < 0 or indices.max() >= shape[0]:
        return f"indices: out of bounds for {shape[0]} rows"
    return None if (np.diff(indices) > 0).all() else "indices: must be sorted and distinct"


# --- samples -------------------------------------------------------------------------------------


def csr_sample(rows, columns, density=0.3, seed=0):
    """Return indices and indptr of a random csr array, and the shape of its data."""
    stored = np.random.default_rng(seed).random((rows, columns)) < density
    indptr = np.concatenate([[0], np.cumsum(stored.sum(1))]).astype("int64")
    indices = np.nonzero(stored)[1].astype("int64")
    return indices.shape, indices, indptr


def row_sparse_sample(rows, stored, *row, seed=0):
    """Return the data shape of a random row_sparse array, and its indices."""
    chosen = np.random.default_rng(seed).choice(rows, stored, replace=False)
    return (stored, *row), np.sort(chosen).astype("int64")
