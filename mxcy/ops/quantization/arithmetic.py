"""Quantized sum, product, concatenation and batch normalisation, which change the range."""

import math

import numpy as np

from mxcy._base import dtypes
from mxcy.ops.core.attrs import Bool, Double, Float, FloatOrNone, Int
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, broadcast_shapes, normal_axis, require
from mxcy.ops.core.params import BLOCKS, CALIBRATED, QUANTIZED_NORM
from mxcy.ops.core.record import native, op, register, sample, stop, values
from mxcy.ops.quantization.moves import RANGE
from mxcy.ops.quantization.ranges import (
    F32,
    INT8,
    INT32,
    LARGEST,
    LIMITS,
    UINT8,
    calibrated,
    calibrated_range,
    calibration,
    eight_bits,
    limit_of,
    pair,
    pair_of,
    per_unit,
    range_specs,
    reach,
    reach_of,
    saturated,
    signed_pair,
)
from mxcy.ops.shape.concat import join_specs

__all__ = []

_FLOAT = dtypes.code_of("float32")
_PAIR = "lhs rhs lhs_min lhs_max rhs_min rhs_max"
_OUTPUTS = "output min_output max_output"
_WIDER = (
    lambda rng: rng.uniform(-3, -2, 1).astype(F32),
    lambda rng: rng.uniform(2.5, 3, 1).astype(F32),
)


def _rescale(dtype, own, kind, top):
    """Return the factor that converts values of one dtype and reach to another."""
    return own / F32(limit_of(dtype)) * F32(LIMITS[kind]) / top if top > 0 else F32(0)


def _infer_operands(lhs, rhs, lhs_min, lhs_max, rhs_min, rhs_max):
    eight_bits("lhs", lhs)
    eight_bits("rhs", rhs)
    range_specs(
        ("lhs_min", lhs_min), ("lhs_max", lhs_max), ("rhs_min", rhs_min), ("rhs_max", rhs_max)
    )
    return broadcast_shapes(lhs.shape, rhs.shape)


def _joint_type(*specs):
    """Return uint8 if all arrays have it, else int8; None if undetermined."""
    kinds = {spec.dtype for spec in specs}
    if INT8 in kinds:
        return INT8
    return None if None in kinds else UINT8


def _not_narrow(a, ins, outs):
    if not calibrated(a):
        return "the sum has 32 bits"
    return None if ins[0].shape == ins[1].shape else "the shapes differ"


def _operand_samples(**attrs):
    signed, unsigned = values(-128, 128, (3, 70), "int8"), values(0, 256, (3, 70), "uint8")
    for lhs, rhs in ((signed, signed), (unsigned, unsigned), (unsigned, signed)):
        yield sample(lhs, rhs, *RANGE, *_WIDER, **attrs)


@op(
    "_contrib_quantized_elemwise_add",
    out_range=calibrated_range,
    aliases=("_npx_quantized_elemwise_add",),
    inputs=_PAIR,
    outputs=_OUTPUTS,
)
class QuantizedAdd:
    """Add two quantized arrays, each with its minimum and maximum (1,).

    With a calibrated range the sum has 8 bits in that range, unsigned if both operands are;
    otherwise it has 32 bits and the sum of their reaches. Shapes broadcast.
    """

    min_calib_range: FloatOrNone = None
    max_calib_range: FloatOrNone = None

    dtypes = ("float32",)
    grad = stop

    def samples():
        yield from _operand_samples()
        yield from _operand_samples(min_calib_range=-2.5, max_calib_range=2)

    kernels = (
        native(
            "quantized_add",
            struct=CALIBRATED,
            params=calibration,
            when=_not_narrow,
            mixed=True,
            inplace=lambda a, ins, outs: tuple(i for i in (0, 1) if ins[i].dtype == outs[0].dtype),
        ),
    )

    def infer(a, lhs, rhs, *ranges):
        shape = _infer_operands(lhs, rhs, *ranges)
        if not calibrated(a):
            return Spec(shape, INT32), *pair()
        return Spec(shape, _joint_type(lhs, rhs)), *pair()

    def ref(a, xp, lhs, rhs, lhs_min, lhs_max, rhs_min, rhs_max):
        reaches = reach(xp, lhs_min, lhs_max), reach(xp, rhs_min, rhs_max)
        kind = "int32"
        if calibrated(a):
            kind = "uint8" if lhs.dtype.name == rhs.dtype.name == "uint8" else "int8"
        top = reach_of(a) if calibrated(a) else reaches[0] + reaches[1]
        left, right = (
            number.astype(F32) * _rescale(number.dtype, own, kind, top)
            for number, own in zip((lhs, rhs), reaches, strict=True)
        )
        if kind == "int32":
            sums = xp.clip(xp.rint((left + right).astype("float64")), -(2**31), 2**31 - 1)
            return sums.astype("int32"), *signed_pair(xp, top)
        limits = F32(a.min_calib_range), F32(a.max_calib_range)
        return saturated(xp, left + right, kind), *pair_of(xp, *limits)


@op(
    "_contrib_quantized_elemwise_mul",
    out_range=calibrated_range,
    aliases=("_npx_quantized_elemwise_mul",),
    inputs=_PAIR,
    outputs=lambda a: ("output",) if a.enable_float_output else tuple(_OUTPUTS.split()),
)
class QuantizedMul:
    """Multiply two quantized arrays, each with its minimum and maximum (1,).

    With a calibrated range the product is int8 in that range, truncated towards zero; with
    `enable_float_output` it is a float array without a range; otherwise the 32-bit product of the
    integers. Shapes broadcast.
    """

    min_calib_range: FloatOrNone = None
    max_calib_range: FloatOrNone = None
    enable_float_output: Bool = False

    dtypes = ("float32",)
    grad = stop

    def samples():
        yield from _operand_samples()
        yield from _operand_samples(min_calib_range=-2.5, max_calib_range=2)
        yield from _operand_samples(enable_float_output=True)

    def infer(a, lhs, rhs, *ranges):
        shape = _infer_operands(lhs, rhs, *ranges)
        if a.enable_float_output:
            return Spec(shape, _FLOAT)
        return Spec(shape, INT8 if calibrated(a) else INT32), *pair()

    def ref(a, xp, lhs, rhs, lhs_min, lhs_max, rhs_min, rhs_max):
        reaches = reach(xp, lhs_min, lhs_max), reach(xp, rhs_min, rhs_max)
        product = lhs.astype("int32") * rhs.astype("int32")
        kinds = lhs.dtype.name, rhs.dtype.name
        steps = [own / F32(LIMITS[kind]) for own, kind in zip(reaches, kinds, strict=True)]
        if a.enable_float_output:
            return product.astype(F32) * (steps[0] * steps[1])
        if calibrated(a):
            unit = per_unit(LIMITS["int8"], reach_of(a))
            scaled = xp.trunc(product.astype(F32) * (steps[0] * steps[1] * unit))
            numbers = saturated(xp, scaled, "int8")
            return numbers, *pair_of(xp, F32(a.min_calib_range), F32(a.max_calib_range))
        steps = [own / F32(LARGEST[kind]) for own, kind in zip(reaches, kinds, strict=True)]
        return product, *signed_pair(xp, F32(2**31) * (steps[0] * steps[1]))


def _joined_range(a, ranges, ins, outs):
    joined = ranges[: a.num_args]
    if None in joined:
        return None
    return min(low for low, _ in joined), max(high for _, high in joined)


@op(
    "_contrib_quantized_concat",
    out_range=_joined_range,
    inputs="",
    variadic="data",
    num_args="num_args",
    outputs=_OUTPUTS,
    in_symbols=InSymbols(
        names=lambda a, n: (
            *(f"arg{i}" for i in range(n // 3)),
            *(f"arg{i}_{end}" for i in range(n // 3) for end in ("min", "max")),
        )
    ),
)
class QuantizedConcat:
    """Concatenate `num_args` quantized arrays along dimension `dim`.

    The inputs are the arrays followed by the minimum and maximum (1,) of each. The result's range
    covers those of all arrays; it is uint8 if all arrays are, else int8.
    """

    num_args: Int
    dim: Int = 1

    dtypes = ("float32",)
    grad = stop

    def samples():
        signed, unsigned = values(-128, 128, (3, 35), "int8"), values(0, 256, (3, 40), "uint8")
        for lhs, rhs in ((signed, signed), (unsigned, unsigned), (unsigned, signed)):
            yield sample(lhs, rhs, *RANGE, *_WIDER, num_args=2)
        yield sample(signed, *RANGE, num_args=1)
        yield sample(signed, signed, *RANGE, *_WIDER, num_args=2, dim=0)

    kernels = (
        native(
            "quantized_concat",
            struct=BLOCKS,
            params=lambda a, ins, outs: {
                "rows": math.prod(outs[0].shape[: normal_axis(a.dim, outs[0].ndim)])
            },
            when=lambda a, ins, outs: None if outs[0].size else "there is no data",
            mixed=True,
        ),
    )

    def infer(a, ins):
        require(
            len(ins) == 3 * a.num_args > 0,
            f"data: got {len(ins)} arrays, num_args={a.num_args} needs three times as many",
        )
        arrays, ranges = ins[: a.num_args], ins[a.num_args :]
        for number, spec in enumerate(arrays):
            eight_bits(f"data{number}", spec)
        range_specs(*((f"data{a.num_args + i}", spec) for i, spec in enumerate(ranges)))
        return Spec(join_specs(a.dim, arrays), _joint_type(*arrays)), *pair()

    def ref(a, xp, arrays):
        data, ranges = arrays[: a.num_args], arrays[a.num_args :]
        lows = [F32(x.item()) for x in ranges[::2]]
        highs = [F32(x.item()) for x in ranges[1::2]]
        low, high = min(lows), max(highs)
        top = max(abs(low), abs(high))
        kind = "uint8" if all(x.dtype.name == "uint8" for x in data) else "int8"
        reaches = [max(abs(low), abs(high)) for low, high in zip(lows, highs, strict=True)]
        parts = [
            x
            if x.dtype.name == kind and own == top
            else saturated(xp, x.astype(F32) * _rescale(x.dtype, own, kind, top), kind)
            for x, own in zip(data, reaches, strict=True)
        ]
        return xp.concatenate(parts, a.dim), *pair_of(xp, low, high)


def _norm_kernels(relu):
    def params(a, ins, outs):
        shape = ins[0].shape
        axis = normal_axis(a.axis, len(shape))
        return {
            "outer": math.prod(shape[:axis]),
            "channels": shape[axis],
            "inner": math.prod(shape[axis + 1 :]),
            "eps": a.eps,
            "low": a.min_calib_range,
            "high": a.max_calib_range,
            "relu": relu,
        }

    return (
        native(
            "quantized_norm",
            struct=QUANTIZED_NORM,
            params=params,
            when=lambda a, ins, outs: None if calibrated(a) else "the range is not calibrated",
            workspace=lambda a, ins, outs: 8 * ins[1].size,
            mixed=True,
            inplace=lambda a, ins, outs: (0,) if ins[0].dtype == INT8 else (),
        ),
    )


@op(
    "_contrib_quantized_batch_norm",
    out_range=calibrated_range,
    inputs="data gamma beta moving_mean moving_var min_data max_data",
    outputs=_OUTPUTS,
    aux=("moving_mean", "moving_var"),
)
class QuantizedBatchNorm:
    """Apply batch normalisation with running statistics to quantized data, with int8 result.

    Attributes are those of `BatchNorm`, of which only `eps` and `axis` are used; gamma is used
    unchanged. The result's range is the calibrated one, or else the actual reach.
    """

    eps: Double = 0.0010000000474974513
    momentum: Float = 0.899999976
    fix_gamma: Bool = True
    use_global_stats: Bool = False
    output_mean_var: Bool = False
    axis: Int = 1
    cudnn_off: Bool = False
    min_calib_range: FloatOrNone = None
    max_calib_range: FloatOrNone = None

    dtypes = ("float32",)
    grad = stop
    kernels = _norm_kernels(False)

    def samples():
        parts = ((3,), (3,), (3,), values(0.5, 2, (3,), "float32"), *RANGE)
        signed, unsigned = values(-128, 128, (2, 3, 35), "int8"), values(0, 256, (2, 3, 5), "uint8")
        for data in (signed, unsigned):
            yield sample(data, *parts)
            yield sample(data, *parts, min_calib_range=-2.5, max_calib_range=2)
        yield sample(values(-128, 128, (2, 5, 3), "int8"), *parts, axis=-1)

    def infer(a, data, gamma, beta, moving_mean, moving_var, min_data, max_data):
        eight_bits("data", data)
        range_specs(("min_data", min_data), ("max_data", max_data))
        channels = None
        if data.shape is not None:
            channels = (data.shape[normal_axis(a.axis, data.ndim)],)
        names = ("gamma", "beta", "moving_mean", "moving_var")
        for name, spec in zip(names, (gamma, beta, moving_mean, moving_var), strict=True):
            spec.fill(name, channels, _FLOAT)
        return Spec(data.shape, INT8), *pair()

    def ref(a, xp, data, gamma, beta, moving_mean, moving_var, min_data, max_data):
        gamma, beta, mean, var = (x.astype(F32) for x in (gamma, beta, moving_mean, moving_var))
        along = [1] * data.ndim
        along[a.axis] = -1
        step = reach(xp, min_data, max_data) / F32(limit_of(data.dtype))
        scale = gamma / xp.sqrt(var + F32(a.eps))
        shift = (beta - mean * scale).reshape(along)
        normalized = data.astype(F32) * (scale * step).reshape(along) + shift
        if calibrated(a):
            top, result = reach_of(a), (F32(a.min_calib_range), F32(a.max_calib_range))
        else:
            top = F32(np.abs(normalized).max()) if normalized.size else F32(0)
            result = -top, top
        return saturated(xp, normalized * per_unit(LIMITS["int8"], top), "int8"), *pair_of(
            xp, *result
        )


def _norm_relu(a, xp, *arrays):
    numbers, low, high = QuantizedBatchNorm.ref(a, xp, *arrays)
    return xp.maximum(numbers, numbers.dtype.type(0)), low, high


register(
    "_quantized_norm_relu",
    inputs="data gamma beta moving_mean moving_var min_data max_data",
    outputs=_OUTPUTS,
    aux=("moving_mean", "moving_var"),
    fields=QuantizedBatchNorm.schema.fields,
    infer=QuantizedBatchNorm._infer,
    ref=_norm_relu,
    grad=stop,
    kernels=_norm_kernels(True),
    samples=QuantizedBatchNorm.samples,
    dtypes=("float32",),
    doc="Apply quantized batch normalisation followed by ReLU.",
)
