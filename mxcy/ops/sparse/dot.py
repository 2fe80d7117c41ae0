"""Products with csr arrays."""

import numpy as np

from mxcy.ops.core.attrs import Bool, Long
from mxcy.ops.core.infer import Spec, require, same_dtype
from mxcy.ops.core.params import CSR
from mxcy.ops.core.record import op, sample
from mxcy.ops.indexing.indexing import sum_dtype
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

_FLOATS = ("float32", "float64", "float16", "bfloat16")


def _product(xp, data, indices, indptr, rhs):
    """Multiply a csr array by a dense one."""
    rows, stored = stored_entries(xp, indices, indptr, len(rhs))
    out = xp.zeros((len(indptr) - 1, *rhs.shape[1:]), sum_dtype(data.dtype))
    factor = data[stored].astype(out.dtype).reshape(-1, *(1,) * (rhs.ndim - 1))
    xp.add.at(out, rows, factor * rhs[indices[stored]])
    return out


def _product_work(a, ins, outs):
    """Return the cost: each stored entry is multiplied by a row of rhs."""
    rhs = ins[3]
    return ins[0].size * (rhs.size // max(rhs.shape[0], 1)) + outs[0].size


@op("_csr_dot_dense", inputs="data indices indptr rhs")
class CsrDotDense:
    """Multiply a csr array by a dense matrix or vector.

    Shapes: rhs (N, P) or (N,) for N columns, out (M, P) or (M,).
    """

    def infer(a, data, indices, indptr, rhs):
        rows = fill_csr(data, indices, indptr)
        dtype = same_dtype((data, rhs), ("data", "rhs"))
        if rhs.shape is None:
            return Spec(None, dtype)
        require(rhs.ndim in (1, 2), f"rhs: expected 1 or 2 dimensions, got {rhs}")
        return Spec((rows, *rhs.shape[1:]), dtype)

    def ref(a, xp, data, indices, indptr, rhs):
        return _product(xp, data, indices, indptr, rhs)

    kernels = (sparse_native("csr_dot_dense", work=_product_work),)

    def samples():
        return (
            sample(*csr_sample(7, 9), (9, 5), dtypes=(*_FLOATS, "int32")),
            sample(*csr_sample(7, 9), (9,), dtypes=_FLOATS),
            sample(*csr_sample(50, 80), (80, 64)),
            sample(*csr_sample(20, 80), (80, 203), dtypes=_FLOATS),
            sample(*csr_sample(5, 4, 0), (4, 3)),
            sample(*csr_sample(0, 4), (4, 3)),
            sample(*csr_sample(3, 4), (4, 0)),
        )


@op("_csr_dot_row_sparse", inputs="data indices indptr rhs rhs_indices")
class CsrDotRowSparse:
    """Multiply a csr array by a row_sparse matrix.

    Shapes: rhs (n, P) with the rows `rhs_indices`, out (M, P).
    """

    def infer(a, data, indices, indptr, rhs, rhs_indices):
        rows = fill_csr(data, indices, indptr)
        dtype = same_dtype((data, rhs), ("data", "rhs"))
        row = fill_rows(rhs, rhs_indices, "rhs_")
        require(row is None or len(row) == 1, f"rhs: expected 2 dimensions, got {rhs}")
        return Spec(None if row is None else (rows, *row), dtype)

    def ref(a, xp, data, indices, indptr, rhs, rhs_indices):
        extent = max(int(x.max()) + 1 if x.size else 0 for x in (indices, rhs_indices))
        check_rows(xp, rhs_indices, extent)
        dense = xp.zeros((extent, *rhs.shape[1:]), rhs.dtype)
        dense[rhs_indices] = rhs
        return _product(xp, data, indices, indptr, dense)

    kernels = (
        sparse_native(
            "csr_dot_row_sparse",
            work=_product_work,
            workspace=lambda a, ins, outs: ins[1].nbytes + ins[0].nbytes,
        ),
    )

    def samples():
        return (
            sample(*csr_sample(7, 9), *row_sparse_sample(9, 4, 5), dtypes=_FLOATS),
            sample(*csr_sample(40, 90), *row_sparse_sample(90, 60, 33)),
            sample(*csr_sample(6, 9), *row_sparse_sample(9, 9, 16)),
            sample(*csr_sample(6, 9), *row_sparse_sample(9, 0, 3)),
        )


# --- transposition -------------------------------------------------------------------------------


def _by_column(xp, data, indices, indptr, columns):
    """Return data, columns and rows of the entries, sorted by column, then by row."""
    rows, stored = stored_entries(xp, indices, indptr, columns)
    order = xp.argsort(indices[stored], kind="stable")
    return data[stored][order], indices[stored][order], rows[order]


def _transpose_work(a, ins, outs):
    """Return the cost: two random-access passes over the entries."""
    return 8 * ins[0].size


def _padded(xp, part, length):
    out = xp.zeros(length, part.dtype)
    out[: len(part)] = part
    return out


@op("_csr_transpose", inputs="data indices indptr", outputs="data indices indptr")
class CsrTranspose:
    """Transpose a csr array of `columns` columns."""

    columns: Long

    def infer(a, data, indices, indptr):
        require(a.columns >= 0, f"columns: must not be negative, got {a.columns}")
        fill_csr(data, indices, indptr)
        return (
            Spec(data.shape, data.dtype),
            Spec(indices.shape, INT64),
            Spec((a.columns + 1,), INT64),
        )

    def ref(a, xp, data, indices, indptr):
        moved, columns, rows = _by_column(xp, data, indices, indptr, a.columns)
        starts = xp.searchsorted(columns, xp.arange(a.columns + 1))
        return _padded(xp, moved, len(data)), _padded(xp, rows, len(data)), starts

    kernels = (sparse_native("csr_transpose", CSR, csr_params, work=_transpose_work),)

    def samples():
        return (
            sample(*csr_sample(7, 9), columns=9, dtypes=(*_FLOATS, "int32", "uint8")),
            sample(*csr_sample(90, 300), columns=300),
            sample(*csr_sample(4, 5, 0), columns=5),
            sample(*csr_sample(0, 3), columns=3),
        )


@op("_csr_transpose_compact", inputs="data indices indptr", outputs="data indices indptr ids count")
class CsrTransposeCompact:
    """Transpose a csr array, dropping empty rows of the result.

    `ids` holds the remaining rows in ascending order, and `count` their number; further entries of
    `ids`, and those of `indptr` beyond ``count + 1``, are zero.
    """

    columns: Long

    def infer(a, data, indices, indptr):
        require(a.columns >= 0, f"columns: must not be negative, got {a.columns}")
        fill_csr(data, indices, indptr)
        stored = data.shape[0]
        most = min(stored, a.columns) if stored >= 0 else -1
        return (
            Spec(data.shape, data.dtype),
            Spec(indices.shape, INT64),
            Spec((most + 1 if most >= 0 else -1,), INT64),
            Spec((most,), INT64),
            Spec((1,), INT64),
        )

    def ref(a, xp, data, indices, indptr):
        moved, columns, rows = _by_column(xp, data, indices, indptr, a.columns)
        ids, lengths = xp.unique(columns, return_counts=True)
        most = min(len(data), a.columns)
        starts = xp.concatenate([[0], xp.cumsum(lengths)]).astype("int64")
        return (
            _padded(xp, moved, len(data)),
            _padded(xp, rows, len(data)),
            _padded(xp, starts, most + 1),
            _padded(xp, ids, most),
            xp.asarray([len(ids)]),
        )

    kernels = (sparse_native("csr_transpose_compact", CSR, csr_params, work=_transpose_work),)

    def samples():
        return (
            sample(*csr_sample(3, 30), columns=30, dtypes=(*_FLOATS, "int32")),
            sample(*csr_sample(90, 300), columns=300),
            sample(*csr_sample(20, 50), columns=10**9),
            sample(*csr_sample(4, 5, 0), columns=5),
        )


@op("_csr_transpose_dot_dense", inputs="data indices indptr rhs")
class CsrTransposeDotDense:
    """Multiply the transpose of a csr array of `columns` columns by a dense matrix or vector.

    Shapes: rhs (M, P) or (M,) for M rows, out (columns, P) or (columns,).
    """

    columns: Long

    def infer(a, data, indices, indptr, rhs):
        require(a.columns >= 0, f"columns: must not be negative, got {a.columns}")
        rows = fill_csr(data, indices, indptr)
        dtype = same_dtype((data, rhs), ("data", "rhs"))
        if rhs.shape is None:
            return Spec(None, dtype)
        require(rhs.ndim in (1, 2), f"rhs: expected 1 or 2 dimensions, got {rhs}")
        rhs.fill("rhs", (rows, *rhs.shape[1:]))
        return Spec((a.columns, *rhs.shape[1:]), dtype)

    def ref(a, xp, data, indices, indptr, rhs):
        rows, stored = stored_entries(xp, indices, indptr, a.columns)
        out = xp.zeros((a.columns, *rhs.shape[1:]), sum_dtype(data.dtype))
        factor = data[stored].astype(out.dtype).reshape(-1, *(1,) * (rhs.ndim - 1))
        xp.add.at(out, indices[stored], factor * rhs[rows])
        return out

    kernels = (
        sparse_native(
            "csr_transpose_dot_dense",
            CSR,
            csr_params,
            work=_product_work,
            workspace=lambda a, ins, outs: ins[1].nbytes + ins[0].nbytes + 8 * (a.columns + 1),
        ),
    )

    def samples():
        return (
            sample(*csr_sample(7, 9), (7, 5), columns=9, dtypes=(*_FLOATS, "int32")),
            sample(*csr_sample(7, 9), (7,), columns=9, dtypes=_FLOATS),
            sample(*csr_sample(50, 8000), (50, 64), columns=8000),
            sample(*csr_sample(20, 80), (20, 203), columns=80, dtypes=_FLOATS),
            sample(
                (3,), np.array([2, 0, 1]), np.array([0, 3, 3]), (2, 4), columns=3, dtypes=_FLOATS
            ),
            sample(*csr_sample(5, 4, 0), (5, 3), columns=4),
            sample(*csr_sample(0, 4), (0, 3), columns=4),
            sample(*csr_sample(3, 4), (3, 0), columns=4),
        )


# --- dense times csr -----------------------------------------------------------------------------


@op("_dense_dot_csr", inputs="lhs data indices indptr")
class DenseDotCsr:
    """Multiply a dense matrix by a csr array of `columns` columns, or by its transpose.

    Shapes: lhs (L, M) and out (L, columns) for M rows; transposed, lhs (L, columns), out (L, M).
    """

    columns: Long
    transpose_b: Bool = False

    def infer(a, lhs, data, indices, indptr):
        require(a.columns >= 0, f"columns: must not be negative, got {a.columns}")
        rows = fill_csr(data, indices, indptr)
        lhs.fill("lhs", (-1, a.columns if a.transpose_b else rows))
        dtype = same_dtype((lhs, data), ("lhs", "data"))
        return Spec((lhs.shape[0], rows if a.transpose_b else a.columns), dtype)

    def ref(a, xp, lhs, data, indices, indptr):
        if a.transpose_b:
            return _product(xp, data, indices, indptr, lhs.T).T
        rows, stored = stored_entries(xp, indices, indptr, a.columns)
        out = xp.zeros((a.columns, len(lhs)), sum_dtype(lhs.dtype))
        xp.add.at(out, indices[stored], data[stored, None] * lhs.T[rows])
        return out.T

    kernels = (
        sparse_native(
            "dense_dot_csr",
            CSR,
            csr_params,
            work=lambda a, ins, outs: ins[0].shape[0] * ins[1].size + outs[0].size,
        ),
    )

    def samples():
        return (
            sample((5, 7), *csr_sample(7, 9), columns=9, dtypes=_FLOATS),
            sample((5, 9), *csr_sample(7, 9), columns=9, transpose_b=True, dtypes=_FLOATS),
            sample((37, 50), *csr_sample(50, 80), columns=80, dtypes=_FLOATS),
            sample((37, 80), *csr_sample(50, 80), columns=80, transpose_b=True, dtypes=_FLOATS),
            sample((0, 5), *csr_sample(5, 4), columns=4),
            sample((3, 5), *csr_sample(5, 4, 0), columns=4),
        )
