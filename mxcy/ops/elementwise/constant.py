"""Small constant arrays stored in attributes, as constant folding produces them."""

import numpy as np

from mxcy._base import dtypes
from mxcy.ops.core.attrs import DType, Shape, Str
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.record import op, sample

__all__ = ["written"]

_NUMBERS = DType(
    *("bool", "float16", "float32", "float64", "int16", "int32", "int64", "int8"),
    *("uint16", "uint32", "uint64", "uint8"),
)


def written(values):
    """Return the attributes of ``_constant`` for a NumPy array."""
    values = np.asarray(values, order="C")
    return {"shape": values.shape, "dtype": values.dtype.name, "data": values.tobytes().hex()}


@op("_constant", inputs="")
class Constant:
    """Return an array given as hexadecimal bytes, little-endian and in row-major order.

    The attributes are the array's shape, dtype and `data`.
    """

    shape: Shape
    dtype: _NUMBERS
    data: Str

    dtypes = ("float32",)
    samples = (
        sample(shape=(2,), dtype="float32", data="0000803f00000040"),
        sample(shape=(2, 2), dtype="int8", data="0102fdfe"),
        sample(shape=(), dtype="bool", data="01"),
        sample(shape=(0, 3), dtype="float64", data=""),
    )

    def infer(a):
        spec = Spec(a.shape, dtypes.code_of(a.dtype))
        require(
            len(a.data) == 2 * spec.nbytes,
            f"data: expected {2 * spec.nbytes} digits for {spec}, got {len(a.data)}",
        )
        return spec

    def ref(a, xp):
        values = np.frombuffer(bytes.fromhex(a.data), a.dtype).reshape(a.shape)
        return xp.array(values)
