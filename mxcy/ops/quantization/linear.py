"""Affine 8-bit quantization with step and zero point, as in ONNX.

MXNet's quantized arrays have a range around 0 instead, see `mxcy.ops.quantization.quantize`.
"""

import math

import numpy as np

from mxcy._base import dtypes
from mxcy.ops.core.attrs import Double, Enum, Int
from mxcy.ops.core.infer import Spec, back_shape, require
from mxcy.ops.core.params import LINEAR, LINEAR_MAP, LINEAR_MEAN, LINEAR_SUM
from mxcy.ops.core.record import native, op, sample, stop, values
from mxcy.ops.quantization.ranges import F32, INT8, eight_bits, saturated

__all__ = []

_FLOAT = dtypes.code_of("float32")


def _linear(a, ins, outs):
    return {"step": a.step, "zero": a.zero}


def _check(a, kind):
    """Raise for an invalid step, or a zero point out of the dtype's range."""
    require(0 < a.step < np.inf, f"step: expected a positive number, got {a.step}")
    ends = np.iinfo(kind)
    require(ends.min <= a.zero <= ends.max, f"zero: {a.zero} is not a {kind}")


@op("_quantize_linear", inputs="data")
class QuantizeLinear:
    """Quantize floats to 8 bits: ``data / step`` rounded half to even, plus `zero`, saturated.

    Shape: any; NaN becomes the largest value of `out_type`.
    """

    step: Double = 1.0
    zero: Int = 0
    out_type: Enum("int8", "uint8") = "uint8"

    dtypes = ("float32",)
    domain = (-3.0, 3.0)
    samples = (
        sample((3, 70), step=0.02, zero=128),
        sample((2, 3, 5), step=0.03, zero=-5, out_type="int8"),
        sample((0, 2)),
    )
    kernels = (native("quantize_linear", struct=LINEAR, params=_linear, mixed=True),)
    infer_back = back_shape
    grad = stop

    def infer(a, data):
        _check(a, a.out_type)
        data.fill("data", dtype=_FLOAT)
        return Spec(data.shape, dtypes.code_of(a.out_type))

    def ref(a, xp, data):
        ends = np.iinfo(a.out_type)
        numbers = xp.rint(data.astype(F32) / F32(a.step)) + F32(a.zero)
        numbers = xp.where(numbers < F32(ends.max), numbers, F32(ends.max))
        return xp.maximum(numbers, F32(ends.min)).astype(a.out_type)


@op("_dequantize_linear", inputs="data")
class DequantizeLinear:
    """Dequantize int8 or uint8 to floats: ``(data - zero) * step``."""

    step: Double = 1.0
    zero: Int = 0

    dtypes = ("float32",)
    samples = (
        sample(values(0, 256, (3, 70), "uint8"), step=0.02, zero=128),
        sample(values(-128, 128, (2, 3, 5), "int8"), step=0.5, zero=-128),
    )
    kernels = (native("dequantize_linear", struct=LINEAR, params=_linear, mixed=True),)
    infer_back = back_shape
    grad = stop

    def infer(a, data):
        eight_bits("data", data)
        if data.dtype is not None:
            _check(a, dtypes.name_of(data.dtype))
        return Spec(data.shape, _FLOAT)

    def ref(a, xp, data):
        return (data.astype(F32) - F32(a.zero)) * F32(a.step)


@op("_linear_sum", inputs="lhs rhs")
class LinearSum:
    """Add 8-bit arrays: ``lhs * lhs_scale + rhs * rhs_scale + offset``, rounded and saturated.

    Both have the same shape; each may be int8 or uint8.
    """

    lhs_scale: Double = 1.0
    rhs_scale: Double = 1.0
    offset: Double = 0.0
    out_type: Enum("int8", "uint8") = "uint8"

    dtypes = ("float32",)

    def samples():
        kinds = {
            "int8": values(-128, 128, (3, 70), "int8"),
            "uint8": values(0, 256, (3, 70), "uint8"),
        }
        for left, lhs in kinds.items():
            for right, rhs in kinds.items():
                scales = {"lhs_scale": 0.5, "rhs_scale": 0.25, "offset": 3.0}
                yield sample(lhs, rhs, out_type=left, **scales)
                yield sample(lhs, rhs, out_type=right, lhs_scale=0.75, rhs_scale=-0.5)

    kernels = (
        native(
            "linear_sum",
            struct=LINEAR_SUM,
            params=lambda a, ins, outs: {
                "lhs": a.lhs_scale,
                "rhs": a.rhs_scale,
                "offset": a.offset,
            },
            mixed=True,
        ),
    )
    grad = stop

    def infer(a, lhs, rhs):
        eight_bits("lhs", lhs)
        eight_bits("rhs", rhs)
        rhs.fill("rhs", lhs.shape)
        return Spec(lhs.shape or rhs.shape, dtypes.code_of(a.out_type))

    def ref(a, xp, lhs, rhs):
        total = lhs.astype(F32) * F32(a.lhs_scale) + rhs.astype(F32) * F32(a.rhs_scale)
        return saturated(xp, total + F32(a.offset), a.out_type)


@op("_linear_map", inputs="data")
class LinearMap:
    """Rescale 8-bit data: ``data * factor + offset``, rounded half to even and saturated."""

    factor: Double = 1.0
    offset: Double = 0.0
    out_type: Enum("int8", "uint8") = "uint8"

    dtypes = ("float32",)
    samples = (
        sample(values(0, 256, (3, 70), "uint8"), factor=0.75, offset=3.0),
        sample(values(0, 256, (3, 70), "uint8"), factor=-0.5, offset=20.0, out_type="int8"),
        sample(values(-128, 128, (3, 5), "int8"), factor=1.5, offset=128.0),
        sample(values(-128, 128, (2, 3, 5), "int8"), factor=0.25, out_type="int8"),
    )
    kernels = (
        native(
            "linear_map",
            struct=LINEAR_MAP,
            params=lambda a, ins, outs: {"factor": a.factor, "offset": a.offset},
            inplace=True,
            mixed=True,
        ),
    )
    infer_back = back_shape
    grad = stop

    def infer(a, data):
        eight_bits("data", data)
        return Spec(data.shape, dtypes.code_of(a.out_type))

    def ref(a, xp, data):
        return saturated(xp, data.astype(F32) * F32(a.factor) + F32(a.offset), a.out_type)


def _mean_struct(a, ins, outs):
    outer, *positions, channels = ins[0].shape
    shares = {"factor": a.factor / max(math.prod(positions), 1), "offset": a.offset}
    return {"outer": outer, "positions": math.prod(positions), "channels": channels, **shares}


@op("_linear_mean", inputs="data")
class LinearMean:
    """Average 8-bit channels-last images: ``mean * factor + offset``, rounded and saturated.

    Shapes: data (batch, spatial..., channels), out the same with spatial extents of 1.
    """

    factor: Double = 1.0
    offset: Double = 0.0
    out_type: Enum("int8", "uint8") = "uint8"

    dtypes = ("float32",)
    samples = (
        sample(values(0, 256, (2, 4, 4, 70), "uint8"), factor=1.5, offset=3.0),
        sample(values(-128, 128, (3, 8, 5), "int8"), factor=0.75, offset=128.0),
        sample(values(-128, 128, (1, 4, 2, 2, 300), "int8"), factor=2.0, out_type="int8"),
    )
    kernels = (
        native(
            "linear_mean",
            struct=LINEAR_MEAN,
            params=_mean_struct,
            when=lambda a, ins, outs: (
                "sums need more than 32 bits" if math.prod(ins[0].shape[1:-1]) >= 1 << 23 else None
            ),
            work=lambda a, ins, outs: ins[0].size // 8 + outs[0].size,
            mixed=True,
        ),
    )
    grad = stop

    def infer(a, data):
        eight_bits("data", data)
        require(
            data.shape is None or len(data.shape) > 2,
            f"data: expected (batch, spatial..., channels), got shape {data.shape}",
        )
        shape = data.shape
        if shape is not None:
            require(0 not in shape[1:-1], f"data: shape {shape} has no positions")
            shape = (shape[0], *(1 for _ in shape[1:-1]), shape[-1])
        return Spec(shape, dtypes.code_of(a.out_type))

    def ref(a, xp, data):
        places = tuple(range(1, data.ndim - 1))
        factor = a.factor / max(math.prod(data.shape[1:-1]), 1)
        total = data.astype("int64").sum(places, keepdims=True).astype(F32)
        return saturated(xp, total * F32(factor) + F32(a.offset), a.out_type)


@op("_dequantize_filters", inputs="weight steps")
class DequantizeFilters:
    """Dequantize a layer's int8 weight: each channel of its first axis times its step.

    Shapes: weight (channels, ...), steps (channels,) float32.
    """

    dtypes = ("float32",)
    samples = (
        sample(values(-128, 128, (4, 3, 2, 2), "int8"), (4,)),
        sample(values(-128, 128, (3, 5), "int8"), (3,)),
    )
    grad = stop

    def infer(a, weight, steps):
        eight_bits("weight", weight, (INT8,))
        require(weight.shape != (), "weight: expected a dimension of channels")
        steps.fill("steps", weight.shape and weight.shape[:1], _FLOAT)
        return Spec(weight.shape, _FLOAT)

    def ref(a, xp, weight, steps):
        return weight.astype(F32) * steps.astype(F32).reshape(-1, *(1,) * (weight.ndim - 1))
