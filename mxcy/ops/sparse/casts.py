"""Conversion between dense arrays and the parts of sparse ones."""

import numpy as np

from mxcy._base.errors import MXNetError
from mxcy.ops.core.attrs import Long
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.params import CSR
from mxcy.ops.core.record import native, op, sample, values
from mxcy.ops.sparse.parts import (
    INT64,
    check_rows,
    csr_params,
    csr_sample,
    fill_csr,
    fill_rows,
    row_sparse_sample,
    sparse_native,
    stored_entries,
)

__all__ = []

_ALL = ("float32", "float64", "float16", "bfloat16", "int32", "int64", "uint8")


def _thin(*shape, dtype=None):
    """Return a sample: an array with mostly zero elements and some zero rows."""

    def draw(rng):
        drawn = values(1, 9, shape, dtype)(rng)
        keep = rng.random(shape) < 0.2
        keep[:: max(shape[0] // 2, 1)] = False
        return np.where(keep, drawn, 0).astype(drawn.dtype)

    return draw


@op("_csr_to_dense", inputs="data indices indptr")
class CsrToDense:
    """Convert a csr array of `columns` columns to a dense array."""

    columns: Long

    def infer(a, data, indices, indptr):
        require(a.columns >= 0, f"columns: must not be negative, got {a.columns}")
        return Spec((fill_csr(data, indices, indptr), a.columns), data.dtype)

    def ref(a, xp, data, indices, indptr):
        rows, stored = stored_entries(xp, indices, indptr, a.columns)
        out = xp.zeros((len(indptr) - 1, a.columns), data.dtype)
        out[rows, indices[stored]] = data[stored]
        return out

    kernels = (sparse_native("csr_to_dense", CSR, csr_params),)

    def samples():
        return (
            sample(*csr_sample(7, 9), columns=9, dtypes=_ALL),
            sample(*csr_sample(60, 300, 0.1), columns=300),
            sample(*csr_sample(0, 4), columns=4),
            sample(*csr_sample(4, 5, 0), columns=5),
        )


@op("_csr_count_nonzero")
class CsrCountNonzero:
    """Compute the indptr of a dense array's csr form.

    Shapes: data (M, N), out (M + 1,).
    """

    def infer(a, data):
        data.fill("data", (-1, -1))
        rows = data.shape[0]
        return Spec((rows + 1 if rows >= 0 else -1,), INT64)

    def ref(a, xp, data):
        return xp.concatenate([[0], xp.cumsum((data != 0).sum(1))]).astype("int64")

    kernels = (native("csr_count_nonzero", mixed=True),)
    samples = (
        sample(_thin(7, 9), dtypes=_ALL),
        sample(_thin(40, 300)),
        sample((0, 4)),
        sample((3, 0)),
    )


@op("_csr_from_dense", inputs="data indptr", outputs="data indices")
class CsrFromDense:
    """Compute data and indices of a dense array's csr form.

    `indptr` is the result of `_csr_count_nonzero`, and `nnz` its last entry.
    """

    nnz: Long

    def infer(a, data, indptr):
        require(a.nnz >= 0, f"nnz: must not be negative, got {a.nnz}")
        data.fill("data", (-1, -1))
        indptr.fill("indptr", (data.shape[0] + 1 if data.shape[0] >= 0 else -1,), INT64)
        return Spec((a.nnz,), data.dtype), Spec((a.nnz,), INT64)

    def ref(a, xp, data, indptr):
        rows, columns = xp.nonzero(data)
        counted = xp.bincount(rows, minlength=len(data))
        if indptr[0] != 0 or a.nnz != len(rows) or (xp.diff(indptr) != counted).any():
            raise MXNetError("indptr: does not match the number of non-zero elements of data")
        return data[rows, columns], columns

    kernels = (sparse_native("csr_from_dense"),)
    samples = (
        sample(np.array([[0, 2.5, 0], [0, 0, 0], [1, 0, -3]]), np.array([0, 1, 1, 3]), nnz=3),
        sample(
            np.eye(70, 333, 5, dtype="float32"),
            np.arange(71, dtype="int64"),
            nnz=70,
            dtypes=("float32",),
        ),
        sample((0, 4), np.array([0]), nnz=0),
    )


@op("_row_sparse_to_dense", inputs="data indices")
class RowSparseToDense:
    """Convert a row_sparse array of `rows` rows to a dense array."""

    rows: Long

    def infer(a, data, indices):
        require(a.rows >= 0, f"rows: must not be negative, got {a.rows}")
        row = fill_rows(data, indices)
        return Spec(None if row is None else (a.rows, *row), data.dtype)

    def ref(a, xp, data, indices):
        check_rows(xp, indices, a.rows)
        out = xp.zeros((a.rows, *data.shape[1:]), data.dtype)
        out[indices] = data
        return out

    kernels = (sparse_native("row_sparse_to_dense"),)

    def samples():
        return (
            sample(*row_sparse_sample(9, 4, 3, 2), rows=9, dtypes=_ALL),
            sample(*row_sparse_sample(200, 150, 70), rows=200),
            sample(*row_sparse_sample(5, 5), rows=5),
            sample(*row_sparse_sample(5, 0, 3), rows=5),
        )


@op("_nonzero_rows", outputs="indices count")
class NonzeroRows:
    """Return the indices of nonzero rows, padded with zeros, and their count."""

    def infer(a, data):
        require(data.shape is None or data.ndim > 0, "data: needs at least one dimension")
        rows = -1 if data.shape is None else data.shape[0]
        return Spec((rows,), INT64), Spec((1,), INT64)

    def ref(a, xp, data):
        chosen = xp.flatnonzero((data != 0).any(tuple(range(1, data.ndim))))
        indices = xp.zeros(len(data), "int64")
        indices[: len(chosen)] = chosen
        return indices, xp.asarray([len(chosen)])

    kernels = (native("nonzero_rows", mixed=True),)
    samples = (
        sample(_thin(7, 3, 2), dtypes=_ALL),
        sample(_thin(300, 40)),
        sample(np.array([0.0, -0.0, 2.0, float("nan")]), dtypes=("float64",)),
        sample((0, 4)),
    )
