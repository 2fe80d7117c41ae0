"""Elementwise operators on two csr arrays, by merging sorted columns row by row."""

import numpy as np

from mxcy._base.errors import MXNetError
from mxcy.ops.core.attrs import Enum, Long
from mxcy.ops.core.infer import Spec, require, same_dtype
from mxcy.ops.core.params import CSR_MERGE
from mxcy.ops.core.record import op, sample
from mxcy.ops.sparse.parts import INT64, csr_sample, fill_csr, sparse_native, stored_entries

__all__ = []

_FUNCTIONS = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "hypot": np.hypot,
}
_Operation = Enum(*_FUNCTIONS)


def _params(a, ins, outs):
    return {"operation": list(_FUNCTIONS).index(a.operation)}


def _work(a, ins, outs):
    """Return the cost: a few steps per entry of both operands."""
    return 4 * sum(spec.size for spec in ins)


def _extent(*lists):
    """Return a number of columns that covers all indices."""
    return 1 + max((int(indices.max()) for indices in lists if indices.size), default=0)


def _keys(xp, indices, indptr, extent):
    """Return the entries' positions in the flat dense array, and the slice that holds them.

    Raises
    ------
    MXNetError
        If the positions are not ascending.
    """
    rows, stored = stored_entries(xp, indices, indptr, extent)
    keys = rows * extent + indices[stored]
    if (xp.diff(keys) <= 0).any():
        raise MXNetError("indices: must be sorted and distinct in each row")
    return keys, stored


def _merged(operation, xp, lhs, rhs):
    return xp.intersect1d(lhs, rhs) if operation == "mul" else xp.union1d(lhs, rhs)


def _merged_indptr(operation, xp, lhs_indices, lhs_indptr, rhs_indices, rhs_indptr):
    extent = _extent(lhs_indices, rhs_indices)
    lhs, _ = _keys(xp, lhs_indices, lhs_indptr, extent)
    rhs, _ = _keys(xp, rhs_indices, rhs_indptr, extent)
    rows = _merged(operation, xp, lhs, rhs) // extent
    counts = xp.bincount(rows, minlength=len(lhs_indptr) - 1)
    return xp.concatenate([[0], xp.cumsum(counts)]).astype("int64")


def _same_rows(lhs, rhs):
    require(
        -1 in (lhs, rhs) or lhs == rhs,
        f"rhs_indptr: expected {lhs} rows, as those of lhs_indptr, got {rhs}",
    )
    return max(lhs, rhs)


@op("_csr_merge_indptr", inputs="lhs_indices lhs_indptr rhs_indices rhs_indptr")
class CsrMergeIndptr:
    """Compute the indptr of an elementwise operation on two csr arrays.

    The result stores the entries of both for mul, of either for other operations.
    """

    operation: _Operation

    def infer(a, lhs_indices, lhs_indptr, rhs_indices, rhs_indptr):
        lhs = fill_csr(None, lhs_indices, lhs_indptr, "lhs_")
        rhs = fill_csr(None, rhs_indices, rhs_indptr, "rhs_")
        rows = _same_rows(lhs, rhs)
        return Spec((rows + 1 if rows >= 0 else -1,), INT64)

    def ref(a, xp, lhs_indices, lhs_indptr, rhs_indices, rhs_indptr):
        return _merged_indptr(a.operation, xp, lhs_indices, lhs_indptr, rhs_indices, rhs_indptr)

    kernels = (sparse_native("csr_merge_indptr", CSR_MERGE, _params, work=_work),)

    def samples():
        return (
            sample(*csr_sample(7, 9)[1:], *csr_sample(7, 9, seed=1)[1:], operation="add"),
            sample(*csr_sample(7, 9)[1:], *csr_sample(7, 9, seed=1)[1:], operation="mul"),
            sample(*csr_sample(90, 400)[1:], *csr_sample(90, 400, seed=1)[1:], operation="sub"),
            sample(*csr_sample(6, 5, 0)[1:], *csr_sample(6, 5)[1:], operation="hypot"),
            sample(*csr_sample(0, 5)[1:], *csr_sample(0, 5)[1:], operation="mul"),
        )


def _pair(operation, rows, columns, first=0.3, second=0.3, dtypes=("float32", "float64")):
    """Return a sample: two csr arrays and the result of `_csr_merge_indptr`."""
    lhs, rhs = csr_sample(rows, columns, first), csr_sample(rows, columns, second, seed=1)
    indptr = _merged_indptr(operation, np, *lhs[1:], *rhs[1:])
    return sample(*lhs, *rhs, indptr, operation=operation, nnz=int(indptr[-1]), dtypes=dtypes)


@op(
    "_csr_merge",
    inputs="lhs_data lhs_indices lhs_indptr rhs_data rhs_indices rhs_indptr indptr",
    outputs="data indices",
)
class CsrMerge:
    """Compute data and indices (sorted) of an elementwise operation on two csr arrays.

    `indptr` is the result of `_csr_merge_indptr` for the same arrays, and `nnz` its last entry.
    """

    operation: _Operation
    nnz: Long

    def infer(a, lhs_data, lhs_indices, lhs_indptr, rhs_data, rhs_indices, rhs_indptr, indptr):
        require(a.nnz >= 0, f"nnz: must not be negative, got {a.nnz}")
        lhs = fill_csr(lhs_data, lhs_indices, lhs_indptr, "lhs_")
        rows = _same_rows(lhs, fill_csr(rhs_data, rhs_indices, rhs_indptr, "rhs_"))
        indptr.fill("indptr", (rows + 1 if rows >= 0 else -1,), INT64)
        dtype = same_dtype((lhs_data, rhs_data), ("lhs_data", "rhs_data"))
        return Spec((a.nnz,), dtype), Spec((a.nnz,), INT64)

    def ref(a, xp, lhs_data, lhs_indices, lhs_indptr, rhs_data, rhs_indices, rhs_indptr, indptr):
        structure = (lhs_indices, lhs_indptr, rhs_indices, rhs_indptr)
        expected = _merged_indptr(a.operation, xp, *structure)
        if a.nnz != expected[-1] or (indptr != expected).any():
            raise MXNetError("indptr: does not match the number of entries of the result")
        extent = _extent(lhs_indices, rhs_indices)
        lhs, lhs_stored = _keys(xp, lhs_indices, lhs_indptr, extent)
        rhs, rhs_stored = _keys(xp, rhs_indices, rhs_indptr, extent)
        keys = _merged(a.operation, xp, lhs, rhs)
        sides = xp.zeros((2, a.nnz), lhs_data.dtype)
        for side, own, data in (
            (sides[0], lhs, lhs_data[lhs_stored]),
            (sides[1], rhs, rhs_data[rhs_stored]),
        ):
            kept = xp.isin(own, keys)
            side[xp.searchsorted(keys, own[kept])] = data[kept]
        return _FUNCTIONS[a.operation](*sides), keys % extent

    kernels = (sparse_native("csr_merge", CSR_MERGE, _params, work=_work),)

    def samples():
        return (
            *(_pair(operation, 7, 9) for operation in _FUNCTIONS),
            _pair("add", 90, 400, 0.05, 0.4, ("float32", "float16", "bfloat16")),
            _pair("mul", 90, 400, 0.4, 0.05, ("float32", "float16")),
            _pair("maximum", 6, 5, 0, 0.5),
            _pair("add", 0, 5),
        )
