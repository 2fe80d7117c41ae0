"""Sums of csr arrays along an axis, and gathering dense values at csr entries."""

import numpy as np

from mxcy._base.errors import MXNetError
from mxcy.ops.core.attrs import Bool, Int, Long
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.params import CSR
from mxcy.ops.core.record import op, sample
from mxcy.ops.indexing.indexing import sum_dtype
from mxcy.ops.sparse.parts import csr_params, csr_sample, fill_csr, sparse_native, stored_entries

__all__ = []

_FLOATS = ("float32", "float64", "float16", "bfloat16")


def _sum_kernel(a, ins, outs):
    return f"csr_sum_{'rows' if a.axis else 'columns'}{'_squares' if a.squares else ''}"


@op("_csr_sum", inputs="data indices indptr")
class CsrSum:
    """Sum a csr array of `columns` columns over rows (axis 0) or columns (axis 1).

    With `squares`, sum the squares.
    """

    columns: Long
    axis: Int = 0
    squares: Bool = False

    def infer(a, data, indices, indptr):
        require(a.axis in (0, 1), f"axis: expected 0 or 1, got {a.axis}")
        require(a.columns >= 0, f"columns: must not be negative, got {a.columns}")
        rows = fill_csr(data, indices, indptr)
        return Spec((rows if a.axis else a.columns,), data.dtype)

    def ref(a, xp, data, indices, indptr):
        rows, stored = stored_entries(xp, indices, indptr, a.columns)
        values = data[stored].astype(sum_dtype(data.dtype))
        out = xp.zeros(len(indptr) - 1 if a.axis else a.columns, values.dtype)
        xp.add.at(out, rows if a.axis else indices[stored], values**2 if a.squares else values)
        return out

    kernels = (sparse_native(_sum_kernel, CSR, csr_params),)

    def samples():
        return (
            sample(*csr_sample(7, 9), columns=9, dtypes=(*_FLOATS, "int32")),
            sample(*csr_sample(7, 9), columns=9, axis=1, dtypes=(*_FLOATS, "int32")),
            sample(*csr_sample(90, 400), columns=400, squares=True),
            sample(*csr_sample(90, 400), columns=400, axis=1, squares=True),
            sample(*csr_sample(0, 4), columns=4),
            sample(*csr_sample(4, 5, 0), columns=5, axis=1),
        )


@op("_csr_gather", inputs="data indices indptr")
class CsrGather:
    """Gather the values of a dense array at the entries of a csr array.

    Shapes: data (M, N), or (M, 1), (1, N) or (1, 1), broadcast to (M, N); out (nnz,).
    """

    def infer(a, data, indices, indptr):
        rows = fill_csr(None, indices, indptr)
        data.fill("data", (-1, -1))
        require(
            data.shape[0] in (-1, 1, rows) or rows == -1,
            f"data: expected {rows} rows or one, got {data}",
        )
        return Spec(indices.shape, data.dtype)

    def ref(a, xp, data, indices, indptr):
        columns = data.shape[1]
        if columns == 1:
            indices = indices * 0
        rows, stored = stored_entries(xp, indices, indptr, columns)
        if stored != slice(0, len(indices)):
            raise MXNetError(f"indptr: must go from 0 to {len(indices)}")
        return data[rows if len(data) != 1 else rows * 0, indices]

    kernels = (sparse_native("csr_gather"),)

    def samples():
        return (
            sample((7, 9), *csr_sample(7, 9)[1:], dtypes=(*_FLOATS, "int32", "uint8")),
            sample((7, 1), *csr_sample(7, 9)[1:]),
            sample((1, 9), *csr_sample(7, 9)[1:]),
            sample((1, 1), *csr_sample(7, 9)[1:]),
            sample((90, 400), *csr_sample(90, 400)[1:]),
            sample((4, 5), np.array([], "int64"), np.zeros(5, "int64")),
        )
