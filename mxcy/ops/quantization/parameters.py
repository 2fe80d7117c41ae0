"""Float emulation of 8-bit layers: quantization of their parameters and sums.

Passes insert these operators around the float counterpart of a quantized layer.
"""

from mxcy._base import dtypes
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.record import op, sample, stop, values
from mxcy.ops.quantization.ranges import (
    F32,
    INT8,
    INT32,
    LARGEST,
    LIMITS,
    eight_bits,
    pair,
    range_specs,
    reach,
    signed_pair,
)

__all__ = []

_FLOAT = dtypes.code_of("float32")


@op("_round_filters", inputs="weight")
class RoundFilters:
    """Round a layer's weight to 8-bit precision per output channel, its first axis.

    The largest magnitude of a channel maps to 127. The result is float.
    """

    dtypes = ("float32",)
    samples = (
        sample((4, 3, 2, 2)),
        sample((3, 5)),
        sample(lambda rng: rng.normal(size=(2, 3)).astype(F32) * [[0], [1]]),
        sample((0, 3)),
    )
    grad = stop

    def infer(a, weight):
        weight.fill("weight", dtype=_FLOAT)
        return Spec(weight.shape, _FLOAT)

    def ref(a, xp, weight):
        if weight.size == 0:
            return weight.astype(F32)
        rows = weight.astype(F32).reshape(len(weight), -1)
        top = xp.abs(rows).max(axis=1, keepdims=True)
        step = xp.where(top > 0, top, F32(1)) / F32(LARGEST["int8"])
        return (xp.rint(rows / step) * step).reshape(weight.shape)


@op("_dequantize_parameter", inputs="data min_range max_range")
class DequantizeParameter:
    """Dequantize an int8 parameter of `_contrib_quantize`: ``data * R / 127``.

    R is the larger magnitude of `min_range` and `max_range`, which have shape (1,).
    """

    dtypes = ("float32",)
    samples = (
        sample(
            values(-128, 128, (3, 70), "int8"),
            values(-2, -1, (1,), "float32"),
            values(0.5, 1, (1,), "float32"),
        ),
    )
    grad = stop

    def infer(a, data, min_range, max_range):
        eight_bits("data", data, (INT8,))
        range_specs(("min_range", min_range), ("max_range", max_range))
        return Spec(data.shape, _FLOAT)

    def ref(a, xp, data, min_range, max_range):
        return data.astype(F32) * (reach(xp, min_range, max_range) / F32(LARGEST["int8"]))


@op("_quantize_wide", inputs="data", outputs="output min_output max_output")
class QuantizeWide:
    """Quantize floats to int32, as input of `_contrib_requantize`.

    The largest magnitude maps to 2**31 - 1. Returns the integers, their minimum and maximum (1,).
    """

    dtypes = ("float32",)
    samples = (
        sample((3, 40)),
        sample((0, 2)),
        sample(lambda rng: rng.uniform(size=(2, 3)).astype(F32) * 0),
    )
    grad = stop

    def infer(a, data):
        data.fill("data", dtype=_FLOAT)
        return Spec(data.shape, INT32), *pair()

    def ref(a, xp, data):
        top = F32(xp.abs(data).max()) if data.size else F32(0)
        unit = LIMITS["int32"] / float(top) if top > 0 else 0.0
        return xp.rint(data.astype("float64") * unit).astype("int32"), *signed_pair(xp, top)
