"""Number of stored elements of sparse arrays."""

from mxcy._base import dtypes
from mxcy.ops.core.attrs import IntOrNone
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.record import op, sample
from mxcy.ops.core.stypes import refuse, rule
from mxcy.ops.sparse import compose

__all__ = []

_INT64 = dtypes.CODES["int64"]


def _count(a, F, x):
    if a.axis is None:
        count, indptr = F._zeros(shape=(1,), dtype="int64"), x.indptr
        return count + compose.size_of(indptr)
    if a.axis == 1:
        rows = x.shape[0]
        return x.indptr.view_rows(1, rows + 1) - x.indptr.view_rows(0, rows)
    ones = F.ones_like(x.indices)
    return F._csr_sum(ones, x.indices, x.indptr, columns=x.shape[1], axis=0)


@op("_contrib_getnnz")
class StoredElements:
    """Count the stored elements of a csr array: in all, or per row or column.

    Other storage types raise.

    Raises
    ------
    MXNetError
        If `data` is not a csr array, or `axis` is not None, 0 or 1.
    """

    axis: IntOrNone = None

    stypes = (
        rule("csr -> default", _count),
        refuse("default", "argument data: expected a csr array, got a dense one"),
    )
    samples = (sample((3, 4)), sample((3, 4), axis=0), sample((3, 4), axis=1))

    def infer(a, data):
        require(a.axis in (None, 0, 1), f"axis: expected None, 0 or 1, got {a.axis}")
        require(data.shape is None or data.ndim == 2, f"data: expected 2 dimensions, got {data}")
        if a.axis is None:
            return Spec((1,), _INT64)
        return Spec(None if data.shape is None else (data.shape[1 - a.axis],), _INT64)

    def ref(a, xp, data):
        return xp.atleast_1d((data != 0).sum(a.axis))
