"""Fused 8-bit layers created by graph passes: products, scales, sum and activation.

``out = act(scale[f] * sum of products + bias[f] + other_scale * other)``, rounded half to even and
saturated to the output's dtype, or a float. Images are channels-last: (batch, spatial..., channel).
As in fused float layers, attribute `algo` names the kernel, for which `_pack_int8_*` packs the
weights; without it they are plain int8.
"""

import math

import numpy as np

from mxcy._base import dtypes
from mxcy.ops.convolution.conv import conv_shapes, forward_ref
from mxcy.ops.convolution.windows import resolve
from mxcy.ops.core.attrs import Bool, Double, Enum, Field, Int, Long, Shape, Str, UInt
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.params import INT8_CONV, INT8_DENSE
from mxcy.ops.core.record import native, register, sample, values
from mxcy.ops.fused.layer import extras, fill_blob, names, require_plain
from mxcy.ops.quantization.ranges import F32, INT8, eight_bits, saturated

__all__ = ["ACTS"]

_FLOAT, _U8 = dtypes.code_of("float32"), dtypes.code_of("uint8")
#: activations; kernels get the index
ACTS = ("none", "relu", "clip")
_FIELDS = (
    Field("no_bias", Bool, False),
    Field("act", Enum(*ACTS), "none"),
    Field("limit", Double, 0.0),
    Field("with_sum", Bool, False),
    Field("other_scale", Double, 1.0),
    Field("source_type", Enum("int8", "uint8"), "int8"),
    Field("zero", Int, 0),
    Field("other_type", Enum("int8", "uint8"), "int8"),
    Field("out_type", Enum("int8", "uint8", "float32"), "int8"),
    Field("algo", Str, ""),
    Field("packed", Long, 0),
)


def _names(a):
    data, weight, *others = names(a)
    return data, weight, "scale", *others


def _overwrites(a, ins, outs):
    """Return whether the sum may be computed in the memory of `other`."""
    fits = a.with_sum and a.out_type == a.other_type
    return (len(ins) - 1,) if fits else ()


def _rest_struct(a):
    return {
        "bias": not a.no_bias,
        "sum": a.with_sum,
        "act": ACTS.index(a.act),
        "source_type": dtypes.code_of(a.source_type),
        "zero": a.zero,
        "target_type": dtypes.code_of(a.out_type),
        "other_type": dtypes.code_of(a.other_type),
        "limit": a.limit,
        "other_scale": a.other_scale,
    }


def _check(a, count, data, weight, scale, addends, shape):
    """Infer the specs of all inputs but data and weight, given the output's `shape`."""
    bias, other = extras(a, addends)
    data.fill("data", dtype=dtypes.code_of(a.source_type))
    ends = np.iinfo(a.source_type)
    require(ends.min <= a.zero <= ends.max, f"zero: {a.zero} is not a {a.source_type}")
    if a.algo:
        fill_blob(a, weight)
    else:
        weight.fill("weight", dtype=INT8)
    scale.fill("scale", (count,), _FLOAT)
    if bias is not None:
        bias.fill("bias", (count,), _FLOAT)
    if other is not None:
        require(a.out_type != "float32", "out_type: a sum cannot be a float")
        other.fill("other", shape, dtypes.code_of(a.other_type))
    return Spec(shape, dtypes.code_of(a.out_type))


def _finish(a, xp, sums, scale, addends):
    """Apply the epilogue to the sums of products, channels last."""
    bias, other = extras(a, addends)
    out = sums.astype(F32) * scale.astype(F32)
    if bias is not None:
        out = out + bias.astype(F32)
    if other is not None:
        out = out + other.astype(F32) * F32(a.other_scale)
    if a.act != "none":
        out = xp.maximum(out, F32(0))
    if a.act == "clip":
        out = xp.minimum(out, F32(a.limit))
    return out if a.out_type == "float32" else saturated(xp, out, a.out_type)


def _chosen(family, **parts):
    def when(a, ins, outs):
        return None if a.algo else "the weights are plain"

    layer = native(
        lambda a, ins, outs: a.algo,
        when=when,
        inplace=_overwrites,
        asks=True,
        capped=True,
        mixed=True,
        packs=True,
        **parts,
    )
    return (layer,)


def _first(shape):
    """Convert a channels-last shape to (batch, channel, spatial...)."""
    return shape and (shape[0], shape[-1], *shape[1:-1])


def _last(shape):
    return shape and (shape[0], *shape[2:], shape[1])


# --- convolutions --------------------------------------------------------------------------------


def _conv_struct(a, batch, channels, source):
    kernel, stride, dilate, pad = resolve(a)
    target = [
        (x + 2 * p - (k - 1) * d - 1) // s + 1
        for x, k, s, d, p in zip(source, kernel, stride, dilate, pad, strict=True)
    ]
    ones = (1,) * (3 - len(kernel))
    return {
        "batch": batch,
        "groups": a.num_group,
        "channels": channels // a.num_group,
        "filters": a.num_filter // a.num_group,
        "source": (*ones, *source),
        "target": (*ones, *target),
        "kernel": (*ones, *kernel),
        "stride": (*ones, *stride),
        "dilate": (*ones, *dilate),
        "pad": (*(0 for _ in ones), *pad),
        **_rest_struct(a),
    }


def _conv_work(a, ins, outs):
    # An elementwise step is worth four times as many 8-bit products as float ones.
    taps = ins[0].shape[-1] // a.num_group * math.prod(a.kernel)
    return outs[0].size * taps // 64 + ins[0].size // 4 + outs[0].size // 4


_CONV_FIELDS = (
    Field("kernel", Shape),
    Field("stride", Shape, ()),
    Field("dilate", Shape, ()),
    Field("pad", Shape, ()),
    Field("num_filter", UInt),
    Field("num_group", UInt, 1),
    *_FIELDS,
)


def _infer_conv(a, data, weight, scale, *addends):
    eight_bits("data", data)
    shadow = Spec() if a.algo else Spec(weight.shape)
    shape, _ = conv_shapes(a, Spec(_first(data.shape)), shadow)
    if not a.algo:
        weight.fill("weight", shadow.shape)
    return _check(a, a.num_filter, data, weight, scale, addends, _last(shape))


def _conv_ref(a, xp, data, weight, scale, *addends):
    require_plain(a)
    source = xp.moveaxis(data, -1, 1).astype("int64") - a.zero
    sums = xp.moveaxis(forward_ref(a, xp, source, weight.astype("int64")), 1, -1)
    return _finish(a, xp, sums, scale, addends)


def _conv_samples():
    weight, scale = values(-128, 128, (4, 3, 3, 3), "int8"), values(0.0005, 0.001, (4,), "float32")
    data, unsigned = values(-128, 128, (2, 5, 6, 3), "int8"), values(0, 256, (2, 5, 6, 3), "uint8")
    shared = {"kernel": (3, 3), "num_filter": 4, "pad": (1, 1)}
    yield sample(data, weight, scale, (4,), **shared)
    other = values(-128, 128, (2, 5, 6, 4), "int8")
    yield sample(
        unsigned,
        weight,
        scale,
        other,
        no_bias=True,
        with_sum=True,
        other_scale=0.7,
        act="relu",
        source_type="uint8",
        out_type="uint8",
        **shared,
    )
    yield sample(data, weight, scale, (4,), act="clip", limit=6, out_type="float32", **shared)
    yield sample(unsigned, weight, scale, (4,), source_type="uint8", zero=131, **shared)
    yield sample(
        data,
        values(-128, 128, (3, 1, 1, 2), "int8"),
        values(0.01, 0.02, (3,), "float32"),
        no_bias=True,
        kernel=(1, 2),
        num_filter=3,
        num_group=3,
        stride=(2, 1),
    )


register(
    "_int8_conv",
    inputs="data weight scale bias? other?",
    fields=_CONV_FIELDS,
    arguments=_names,
    infer=_infer_conv,
    ref=_conv_ref,
    kernels=_chosen(
        "int8_conv",
        struct=INT8_CONV,
        params=lambda a, ins, outs: _conv_struct(
            a, ins[0].shape[0], ins[0].shape[-1], ins[0].shape[1:-1]
        ),
        work=_conv_work,
    ),
    dtypes=("float32",),
    samples=_conv_samples,
    doc="""Apply an 8-bit convolution with per-filter scale, fused with bias, sum and activation.

Shapes: data and output channels-last, weight (num_filter, channel / num_group, kernel...) or the
`packed` bytes for `algo`; scale and bias (num_filter,); other like the output. `clip` limits to
[0, `limit`]. `zero` is the zero point of the data.""",
)


def _infer_pack(a, weight):
    weight.fill("weight", dtype=INT8)
    require(
        a.algo or not weight.known or a.packed == weight.size,
        f"packed: plain weights of shape {weight.shape} do not have {a.packed} bytes",
    )
    return Spec((a.packed,), _U8)


def _pack_ref(a, xp, weight):
    require_plain(a)
    return xp.ascontiguousarray(weight).reshape(-1).view(np.uint8)


def _packer(**parts):
    return (
        native(
            lambda a, ins, outs: f"{a.algo}_pack",
            when=lambda a, ins, outs: None if a.algo else "the weights are plain",
            mixed=True,
            packs=True,
            **parts,
        ),
    )


register(
    "_pack_int8_conv_weight",
    inputs="weight",
    fields=(*_CONV_FIELDS, Field("batch", Int, 1), Field("source", Shape, ())),
    infer=_infer_pack,
    ref=_pack_ref,
    kernels=_packer(
        struct=INT8_CONV,
        params=lambda a, ins, outs: _conv_struct(
            a, a.batch, ins[0].shape[1] * a.num_group, a.source
        ),
    ),
    dtypes=("float32",),
    samples=(
        sample(
            values(-128, 128, (4, 3, 3, 3), "int8"),
            kernel=(3, 3),
            num_filter=4,
            packed=108,
            source=(5, 5),
        ),
    ),
    doc="""Pack weights of `_int8_conv` in the layout of the kernel `algo`, as `packed` bytes.

The other attributes describe the convolution that uses them, with its `batch` and the spatial
extents `source` of its data.""",
)


# --- dense layers --------------------------------------------------------------------------------


def _dense_struct(a, rows, depth):
    return {"rows": rows, "hidden": a.num_hidden, "depth": depth, **_rest_struct(a)}


_DENSE_FIELDS = (Field("num_hidden", Int), *_FIELDS)


def _infer_dense(a, data, weight, scale, *addends):
    eight_bits("data", data)
    require(a.num_hidden > 0, f"num_hidden: must be positive, got {a.num_hidden}")
    require(data.shape != (), "data: expected at least one dimension")
    depth = -1 if data.shape is None else data.shape[-1]
    if not a.algo:
        weight.fill("weight", (a.num_hidden, depth))
    shape = data.shape and (*data.shape[:-1], a.num_hidden)
    return _check(a, a.num_hidden, data, weight, scale, addends, shape)


def _dense_ref(a, xp, data, weight, scale, *addends):
    require_plain(a)
    return _finish(
        a, xp, (data.astype("int64") - a.zero) @ weight.astype("int64").T, scale, addends
    )


def _dense_samples():
    weight, scale = values(-128, 128, (4, 6), "int8"), values(0.0005, 0.001, (4,), "float32")
    signed, unsigned = values(-128, 128, (3, 6), "int8"), values(0, 256, (2, 3, 6), "uint8")
    yield sample(signed, weight, scale, (4,), num_hidden=4)
    yield sample(signed, weight, scale, (4,), num_hidden=4, zero=-7)
    shared = {"num_hidden": 4, "source_type": "uint8", "no_bias": True}
    yield sample(unsigned, weight, scale, out_type="float32", **shared)
    other = values(0, 256, (2, 3, 4), "uint8")
    yield sample(
        unsigned,
        weight,
        scale,
        other,
        with_sum=True,
        act="relu",
        other_type="uint8",
        out_type="uint8",
        **shared,
    )


register(
    "_int8_dense",
    inputs="data weight scale bias? other?",
    fields=_DENSE_FIELDS,
    arguments=_names,
    infer=_infer_dense,
    ref=_dense_ref,
    kernels=_chosen(
        "int8_dense",
        struct=INT8_DENSE,
        params=lambda a, ins, outs: _dense_struct(
            a, outs[0].size // a.num_hidden, ins[0].shape[-1]
        ),
        work=lambda a, ins, outs: (outs[0].size // 64 + a.num_hidden // 16) * ins[0].shape[-1],
    ),
    dtypes=("float32",),
    samples=_dense_samples,
    doc="""Apply an 8-bit dense layer with per-output scale, fused with bias, sum and activation.

Shapes: data (..., n), weight (num_hidden, n) or the `packed` bytes for `algo`; scale and bias
(num_hidden,); other like the output.""",
)
register(
    "_pack_int8_dense_weight",
    inputs="weight",
    fields=(*_DENSE_FIELDS, Field("batch", Int, 1)),
    infer=_infer_pack,
    ref=_pack_ref,
    kernels=_packer(
        struct=INT8_DENSE, params=lambda a, ins, outs: _dense_struct(a, a.batch, ins[0].shape[1])
    ),
    dtypes=("float32",),
    samples=(sample(values(-128, 128, (4, 6), "int8"), num_hidden=4, packed=24),),
    doc="""Pack weights of `_int8_dense` in the layout of the kernel `algo`, as `packed` bytes.

The other attributes describe the layer that uses them; its data has `batch` rows.""",
)
