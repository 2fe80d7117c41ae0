"""8-bit convolution and dense layer with 32-bit sums."""

from mxcy.ops.convolution.conv import conv_shapes, forward_ref
from mxcy.ops.convolution.windows import Filters, Window
from mxcy.ops.core.attrs import Bool, Enum, Int, ULong
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.record import op, sample, stop, values
from mxcy.ops.matrix.dense import FullyConnected
from mxcy.ops.quantization.ranges import (
    F32,
    INT8,
    INT32,
    LARGEST,
    LIMITS,
    eight_bits,
    limit_of,
    pair,
    per_unit,
    range_specs,
    reach,
    signed_pair,
)

__all__ = ["whole_bias"]

_INPUTS = "data weight bias? min_data max_data min_weight max_weight min_bias? max_bias?"


def _arguments(a):
    with_bias = ("data", "weight", "bias", "min_data", "max_data", "min_weight", "max_weight")
    if a.no_bias:
        return tuple(name for name in with_bias if name != "bias")
    return (*with_bias, "min_bias", "max_bias")


def _back_batch(a, ins, outs):
    """Infer the batch size of the data from the sums."""
    data, out = ins[0], outs[0]
    if data.shape and out.shape:
        data.fill("data", (out.shape[0], *data.shape[1:]))


def _by_name(a, arrays):
    return dict(zip(_arguments(a), arrays, strict=True))


def _check(inputs):
    """Check the dtypes of all inputs."""
    eight_bits("data", inputs["data"])
    inputs["weight"].fill("weight", dtype=INT8)
    if "bias" in inputs:
        inputs["bias"].fill("bias", dtype=INT8)
    range_specs(*((name, spec) for name, spec in inputs.items() if name[:4] in ("min_", "max_")))


def _reaches(xp, inputs):
    return {
        name: reach(xp, inputs[f"min_{name}"], inputs[f"max_{name}"])
        for name in ("data", "weight", "bias")
        if name in inputs
    }


def whole_bias(xp, inputs, reaches, kind=None):
    """Return the bias in steps of the sums, cut to integers; `kind`: the dtype of data's steps."""
    kind = kind or inputs["data"].dtype
    steps = per_unit(limit_of(kind), reaches["data"]) * per_unit(LIMITS["int8"], reaches["weight"])
    factor = steps * (reaches["bias"] / F32(LIMITS["int8"]))
    return (inputs["bias"].astype(F32) * factor).astype("int64")


def _sum_range(xp, kind, reaches):
    """Return the range of the sums: 2**31 of their steps."""
    step = reaches["data"] / F32(LARGEST[kind.name])
    step = step * (reaches["weight"] / F32(LARGEST["int8"]))
    return signed_pair(xp, F32(2**31) * step)


def _counted_as(inputs):
    """Return the dtype whose steps the data of a convolution have.

    uint8 data have int8's steps, as in MXNet, if their range is symmetric, like int8's.
    """
    low, high = (inputs[name].reshape(-1)[0] for name in ("min_data", "max_data"))
    return inputs["weight" if low == -high else "data"].dtype


_DATA = values(-128, 128, (2, 3, 5, 6), "int8")
_BIAS = values(-128, 128, (4,), "int8")


def _bounds(low, high):
    return (values(-high, -low, (1,), "float32"), values(low, high, (1,), "float32"))


_RANGES = (*_bounds(1, 2), *_bounds(0.2, 0.5), *_bounds(0.05, 0.1))


@op(
    "_contrib_quantized_conv",
    aliases=("_npx_quantized_conv",),
    inputs=_INPUTS,
    outputs="output min_output max_output",
)
class QuantizedConv(Window, Filters):
    """Convolve int8 or uint8 data with int8 filters; return 32-bit sums and their range.

    Shapes and attributes are those of `Convolution`; data, weight and bias have 8 bits and a
    minimum and maximum (1,) each. The bias is rescaled to the steps of the sums and truncated.
    """

    workspace: ULong = 1024
    no_bias: Bool = False
    cudnn_tune: Enum(None, "fastest", "limited_workspace", "off") = None
    cudnn_off: Bool = False
    layout: Enum(None, "NCDHW", "NCHW", "NCW", "NDHWC", "NHWC", beyond=("NWC",)) = None

    arguments = _arguments
    infer_back = _back_batch
    dtypes = ("float32",)
    grad = stop

    def samples():
        weight = values(-128, 128, (4, 3, 3, 3), "int8")
        yield sample(_DATA, weight, _BIAS, *_RANGES, kernel=(3, 3), num_filter=4, pad=(1, 1))
        grouped = {"num_group": 2, "stride": (2, 1), "pad": (1, 2), "dilate": (2, 1)}
        yield sample(
            values(0, 256, (2, 4, 7, 5), "uint8"),
            values(-128, 128, (6, 2, 3, 2), "int8"),
            *_RANGES[:4],
            kernel=(3, 2),
            num_filter=6,
            no_bias=True,
            **grouped,
        )
        yield sample(
            values(0, 256, (2, 3, 9), "uint8"),
            values(-128, 128, (4, 3, 3), "int8"),
            _BIAS,
            *_RANGES,
            kernel=(3,),
            num_filter=4,
        )

    def infer(a, *specs):
        by_name = _by_name(a, specs)
        _check(by_name)
        shadow = Spec(by_name["weight"].shape)
        shape, _ = conv_shapes(a, Spec(by_name["data"].shape), shadow)
        by_name["weight"].fill("weight", shadow.shape)
        if "bias" in by_name:
            by_name["bias"].fill("bias", shape and (a.num_filter,))
        return Spec(shape, INT32), *pair()

    def ref(a, xp, *arrays):
        by_name = _by_name(a, arrays)
        sums = forward_ref(
            a, xp, by_name["data"].astype("int64"), by_name["weight"].astype("int64")
        )
        reaches, kind = _reaches(xp, by_name), _counted_as(by_name)
        if "bias" in by_name:
            bias = whole_bias(xp, by_name, reaches, kind)
            sums = sums + bias.reshape(-1, *[1] * len(a.kernel))
        return sums.astype("int32"), *_sum_range(xp, kind, reaches)


@op(
    "_contrib_quantized_fully_connected",
    aliases=("_npx_quantized_fully_connected",),
    inputs=_INPUTS,
    outputs="output min_output max_output",
)
class QuantizedFullyConnected:
    """Apply a dense layer to int8 or uint8 data; return 32-bit sums and their range.

    Shapes and attributes are those of `FullyConnected`; data, weight and bias have 8 bits and a
    minimum and maximum (1,) each. The bias is rescaled to the steps of the sums and truncated.
    """

    num_hidden: Int
    no_bias: Bool = False
    flatten: Bool = True

    arguments = _arguments
    infer_back = _back_batch
    dtypes = ("float32",)
    grad = stop

    def samples():
        weight = values(-128, 128, (4, 6), "int8")
        yield sample(values(-128, 128, (3, 2, 3), "int8"), weight, _BIAS, *_RANGES, num_hidden=4)
        data = values(0, 256, (3, 2, 6), "uint8")
        yield sample(data, weight, *_RANGES[:4], num_hidden=4, no_bias=True, flatten=False)
        yield sample(data, weight, _BIAS, *_RANGES, num_hidden=4, flatten=False)

    def infer(a, *specs):
        by_name = _by_name(a, specs)
        _check(by_name)
        shadow = Spec(by_name["weight"].shape)
        inferred = FullyConnected._infer(a, Spec(by_name["data"].shape), shadow)
        by_name["weight"].fill("weight", shadow.shape)
        if "bias" in by_name:
            by_name["bias"].fill("bias", (a.num_hidden,))
        return Spec(inferred.shape, INT32), *pair()

    def ref(a, xp, *arrays):
        by_name = _by_name(a, arrays)
        data, weight = by_name["data"].astype("int64"), by_name["weight"].astype("int64")
        sums = FullyConnected.ref(a, xp, data, weight, None)
        reaches = _reaches(xp, by_name)
        if "bias" in by_name:
            sums = sums + whole_bias(xp, by_name, reaches)
        return sums.astype("int32"), *_sum_range(xp, by_name["data"].dtype, reaches)
