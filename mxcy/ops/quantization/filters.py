"""Int8 weights, scales and biases of 8-bit layers, from parameters in any form."""

from mxcy._base import dtypes
from mxcy.ops.core.attrs import Bool, Double, Field
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.record import register, sample, values
from mxcy.ops.quantization.ranges import F32, INT8, LARGEST, range_specs, reach

__all__ = []

_FLOAT = dtypes.code_of("float32")


def _infer_filters(a, *specs):
    kind, by_name = INT8 if a.quantized else _FLOAT, dict(zip(_filter_names(a), specs, strict=True))
    weight = by_name["weight"].fill("weight", dtype=INT8 if a.stepped else kind)
    count = None if weight.shape is None else weight.shape[:1]
    if a.stepped:
        by_name["steps"].fill("steps", count, _FLOAT)
    if "bias" in by_name:
        by_name["bias"].fill("bias", count, kind)
    range_specs(*((name, spec) for name, spec in by_name.items() if name[:4] in ("min_", "max_")))
    return Spec(weight.shape, INT8), Spec(count, _FLOAT), Spec(count, _FLOAT)


def _filter_names(a):
    bias = () if a.no_bias else ("bias",)
    if a.stepped:
        return ("weight", "steps", *bias)
    if not a.quantized:
        return ("weight", *bias)
    ranges = ("min_weight", "max_weight", *(() if a.no_bias else ("min_bias", "max_bias")))
    return ("weight", *bias, *ranges)


def _filters_ref(a, xp, *arrays):
    by_name = dict(zip(_filter_names(a), arrays, strict=True))
    weight, bias = by_name["weight"], by_name.get("bias")
    count = weight.shape[0]
    if a.stepped:
        numbers, steps = weight, by_name["steps"].astype(F32)
    elif a.quantized:
        numbers = weight
        step = reach(xp, by_name["min_weight"], by_name["max_weight"]) / F32(LARGEST["int8"])
        steps = xp.full((count,), step, F32)
        if bias is not None:
            unit = reach(xp, by_name["min_bias"], by_name["max_bias"]) / F32(LARGEST["int8"])
            bias = bias.astype(F32) * unit
    else:
        weight = weight.astype(F32)
        flat = weight.reshape(count, -1)
        largest = xp.abs(flat).max(axis=1) if flat.size else xp.zeros((count,), F32)
        steps = xp.where(largest > 0, largest, F32(1)) / F32(LARGEST["int8"])
        shape = (-1, *[1] * (weight.ndim - 1))
        numbers = xp.clip(xp.rint(weight / steps.reshape(shape)), -127, 127).astype("int8")
    shift = xp.zeros((count,), F32) if bias is None else bias.astype(F32) / F32(a.out_step)
    return numbers, steps * F32(a.data_step / a.out_step), shift + F32(a.offset)


_W, _B = (5, 3, 2, 2), (5,)
_LOW, _HIGH = values(-2, -1, (1,), "float32"), values(0.5, 1, (1,), "float32")
register(
    "_int8_filters",
    inputs="weight steps? bias? min_weight? max_weight? min_bias? max_bias?",
    outputs="numbers scale shift",
    fields=(
        Field("quantized", Bool, False),
        Field("stepped", Bool, False),
        Field("no_bias", Bool, False),
        Field("data_step", Double, 1.0),
        Field("out_step", Double, 1.0),
        Field("offset", Double, 0.0),
    ),
    arguments=_filter_names,
    infer=_infer_filters,
    ref=_filters_ref,
    dtypes=("float32",),
    samples=(
        sample(_W, _B, data_step=0.5, out_step=0.25),
        sample(_W, no_bias=True, data_step=2),
        sample(values(-128, 128, _W, "int8"), _B, _B, stepped=True, offset=3),
        sample(
            values(-128, 128, _W, "int8"),
            values(-128, 128, _B, "int8"),
            _LOW,
            _HIGH,
            _LOW,
            _HIGH,
            quantized=True,
        ),
        sample(values(-128, 128, _W, "int8"), _LOW, _HIGH, quantized=True, no_bias=True),
    ),
    doc="""Convert weight and bias of a layer to the int8 form of `_int8_conv` and `_int8_dense`.

Float weights are quantized per filter; `quantized` ones keep their values, and have ranges like the
bias; `stepped` ones have `steps` (num_filter,). `data_step` and `out_step` are the steps of data
and output; `offset` is added to biases. Returns int8 weights, scales and biases (num_filter,).""",
)
