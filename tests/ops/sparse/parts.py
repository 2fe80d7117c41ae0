"""Sparse arrays as dense ones with many zeros, and their parts for component operators."""

import numpy as np

import mxcy as mx
from mxcy.ndarray.register import F

__all__ = ["F", "array", "csr", "densified", "numbers", "row_sparse", "thin"]


def array(values):
    """An array of the same element type."""
    values = np.asarray(values)
    return mx.nd.array(values, dtype=values.dtype)


def numbers(*arrays):
    """Arrays as NumPy arrays."""
    return [each.asnumpy() for each in arrays]


def thin(rows, columns, density=0.2, seed=0, dtype="float64"):
    """A dense matrix of small integers, most of which are zero."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(1, 9, (rows, columns)) * rng.choice([-1, 1], (rows, columns))
    return np.where(rng.random((rows, columns)) < density, drawn, 0).astype(dtype)


def csr(dense):
    """Data, indices and indptr of the elements that are not zero."""
    rows, columns = np.nonzero(dense)
    indptr = np.searchsorted(rows, np.arange(len(dense) + 1))
    return [array(part) for part in (dense[rows, columns], columns, indptr)]


def row_sparse(dense):
    """Data and indices of the rows that are not zero."""
    rows = np.flatnonzero((dense != 0).any(tuple(range(1, dense.ndim))))
    return [array(part) for part in (dense[rows], rows)]


def densified(data, indices, indptr, columns):
    """The dense matrix of a csr array's parts; entries of a row must be sorted and distinct."""
    data, indices, indptr = numbers(data, indices, indptr)
    assert indptr[0] == 0 and indptr[-1] == len(data) == len(indices)
    out = np.zeros((len(indptr) - 1, columns), data.dtype)
    for row in range(len(out)):
        stored = slice(indptr[row], indptr[row + 1])
        assert (np.diff(indices[stored]) > 0).all()
        out[row, indices[stored]] = data[stored]
    return out
