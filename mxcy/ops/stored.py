"""What is stored of sparse arrays."""

from mxcy import dtypes
from mxcy.base import MXNetError
from mxcy.ops.attrs import IntOrNone
from mxcy.ops.infer import Spec, require
from mxcy.ops.record import op, sample

__all__ = []

_INT64 = dtypes.CODES["int64"]


def _refuse(a, *given):
    raise MXNetError(
        "Error in operator _contrib_getnnz: argument data: expected a csr array, got a dense one, "
        "of which all elements are stored"
    )


@op("_contrib_getnnz")
class StoredElements:
    """How many elements of a csr array are stored: in all, or by row or column.

    Dense arrays are refused.

    Raises
    ------
    MXNetError
        When `data` is dense, or `axis` is none of None, 0 and 1.
    """

    axis: IntOrNone = None

    eager = _refuse
    ref = _refuse
    samples = (sample((3, 4)), sample((3, 4), axis=0), sample((3, 4), axis=1))

    def infer(a, data):
        require(a.axis in (None, 0, 1), f"axis: expected None, 0 or 1, got {a.axis}")
        require(data.shape is None or data.ndim == 2, f"data: expected 2 dimensions, got {data}")
        if a.axis is None:
            return Spec((1,), _INT64)
        return Spec(None if data.shape is None else (data.shape[1 - a.axis],), _INT64)
