"""Shape and size of arrays, as arrays."""

from mxcy._base import dtypes
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.record import register, sample, stop

INT64 = dtypes.CODES["int64"]


def _shape_infer(a, data):
    return Spec((-1 if data.shape is None else data.ndim,), INT64)


register(
    "shape_array",
    aliases=("_npx_shape_array",),
    infer=_shape_infer,
    grad=stop,
    ref=lambda a, xp, data: xp.asarray(data.shape, "int64"),
    ignores=("data",),
    complexes=True,
    samples=(sample((2, 3, 4)), sample((5,))),
    doc="Return the shape of an array as a 1-D int64 array.",
)


register(
    "size_array",
    infer=lambda a, data: Spec((1,), INT64),
    grad=stop,
    ref=lambda a, xp, data: xp.asarray([data.size], "int64"),
    ignores=("data",),
    complexes=True,
    samples=(sample((2, 3, 4)), sample((0, 3))),
    doc="Return the number of elements of an array as an int64 array of shape (1,).",
)
