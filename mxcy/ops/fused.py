"""Convolution and dense layers with everything that follows them, as graph passes make them.

``out = act(layer(data, weight) + bias + other)``, and a convolution may first scale, shift and
rectify its data. The names are those of the original's oneDNN
subgraphs. An attribute `algo` names the kernel that will run; its weights are then an opaque
array of bytes that the matching `_pack_*` operator made, so that such a call has no reference:
graphs are compared before their weights are packed. Without `algo` the weights are plain.

A blocked array (see blocked.py) has the shape (batch, channels / block, spatial..., block);
`in_block` and `out_block` say so, or are 0. Inference only: there are no gradients.
"""

import math

import numpy as np

from mxcy import dtypes
from mxcy.base import MXNetError
from mxcy.ops.attrs import Bool, Enum, Field, Float, Int, Long, Shape, Str, UInt
from mxcy.ops.blocked import blocked, blocked_shape, plain, plain_shape
from mxcy.ops.conv import Convolution, conv_shapes, forward_ref, resolve
from mxcy.ops.elemwise import by_element
from mxcy.ops.infer import Spec, require
from mxcy.ops.nn import FullyConnected
from mxcy.ops.params import FUSED_CONV, FUSED_DENSE
from mxcy.ops.record import native, op, register, sample, values

__all__ = ["ACTIVATIONS", "activate"]

_U8 = dtypes.code_of("uint8")
_erf = by_element(math.erf)


def _gelu_tanh(xp, x):
    return 0.5 * x * (1 + xp.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


#: What may follow a layer: name -> f(xp, x, alpha, beta). A kernel gets the position in this dict.
ACTIVATIONS = {
    "none": lambda xp, x, alpha, beta: x,
    "relu": lambda xp, x, alpha, beta: xp.maximum(x, 0),
    "sigmoid": lambda xp, x, alpha, beta: 1 / (1 + xp.exp(-x)),
    "tanh": lambda xp, x, alpha, beta: xp.tanh(x),
    "softrelu": lambda xp, x, alpha, beta: xp.maximum(x, 0) + xp.log1p(xp.exp(-xp.abs(x))),
    "leaky": lambda xp, x, alpha, beta: xp.where(x > 0, x, alpha * x),
    "elu": lambda xp, x, alpha, beta: xp.where(x > 0, x, alpha * xp.expm1(xp.minimum(x, 0))),
    "gelu_erf": lambda xp, x, alpha, beta: x * 0.5 * (1 + _erf(xp, x * math.sqrt(0.5))),
    "gelu_tanh": lambda xp, x, alpha, beta: _gelu_tanh(xp, x),
    "clip": lambda xp, x, alpha, beta: xp.minimum(xp.maximum(x, alpha), beta),
    "abs": lambda xp, x, alpha, beta: xp.abs(x),
    "square": lambda xp, x, alpha, beta: x * x,
    "sqrt": lambda xp, x, alpha, beta: xp.sqrt(x),
    "exp": lambda xp, x, alpha, beta: xp.exp(x),
    "linear": lambda xp, x, alpha, beta: alpha * x + beta,
}
_NUMBERS = {name: number for number, name in enumerate(ACTIVATIONS)}
_Activation = Enum(*ACTIVATIONS)


#: What may come before a convolution; a kernel gets the position here.
_BEFORE = ("none", "scale", "scale_relu")
_Before = Enum(*_BEFORE)


def activate(a, xp, x):
    """The activation of attributes `a`, in the element type of `x`."""
    return ACTIVATIONS[a.act](xp, x, a.alpha, a.beta).astype(x.dtype, copy=False)


def _names(a):
    """The inputs that a call has."""
    return (
        "data",
        "weight",
        *(() if a.no_bias else ("bias",)),
        *(("other",) if a.with_sum else ()),
    )


def _extras(a, rest):
    """(bias, other) of what follows data and weight; None where absent."""
    given = dict(zip(_names(a)[2:], rest, strict=True))
    return given.get("bias"), given.get("other")


def _conv_names(a):
    """The inputs that a call of a convolution has."""
    names = _names(a)
    if a.before == "none":
        return names
    place = len(names) - a.with_sum
    return (*names[:place], "scale", "shift", *names[place:])


def _split(a, rest):
    """Scale and shift of a convolution's data (or two None), and the rest without them."""
    if a.before == "none":
        return None, None, rest
    place = len(rest) - a.with_sum - 2
    return rest[place], rest[place + 1], (*rest[:place], *rest[place + 2 :])


def _require_plain(a):
    if a.algo:
        raise MXNetError(
            f"weights packed for {a.algo} can be read by that kernel only; the reference needs "
            "algo=''"
        )


def _fill_blob(a, weight):
    require(a.packed > 0, f"packed: expected the size of weights of {a.algo}, got {a.packed}")
    weight.fill("weight", (a.packed,), _U8)


def _overwrites(a, ins, outs):
    """The sum may happen in the memory of `other`."""
    return (len(ins) - 1,) if a.with_sum else ()


def _chosen(**parts):
    """The kernel that attribute `algo` names."""
    return native(
        lambda a, ins, outs: a.algo,
        when=lambda a, ins, outs: None if a.algo else "the weights are plain",
        inplace=_overwrites,
        asks=True,
        capped=True,
        **parts,
    )


def _unfused(kernel):
    """A kernel of the plain operator, where nothing is fused."""

    def when(a, ins, outs):
        if a.algo:
            return "packed weights"
        if a.act != "none" or a.with_sum:
            return "a sum or an activation follows"
        if "before" in a.__dict__ and a.before != "none":
            return "the data is scaled first"
        if "in_block" in a.__dict__ and (a.in_block or a.out_block):
            return "blocked data"
        return kernel.when(a, ins, outs) if kernel.when else None

    return native(
        kernel.name, kernel.struct, kernel.params, when, work=kernel.work, asks=kernel.asks
    )


# --- convolution -----------------------------------------------------------------------------


def _plain_spec(spec, block):
    """A spec of a possibly blocked array as that of the plain one."""
    if not block or spec.shape is None:
        return Spec(spec.shape, spec.dtype)
    require(
        spec.shape[-1] in (-1, block),
        f"data: expected {block} channels innermost, got shape {spec.shape}",
    )
    return Spec(plain_shape(spec.shape), spec.dtype)


def _conv_struct(a, batch, channels, source):
    """FUSED_CONV of a call on plain extents."""
    kernel, stride, dilate, pad = resolve(a)
    target = [
        (x + 2 * p - (k - 1) * d - 1) // s + 1
        for x, k, s, d, p in zip(source, kernel, stride, dilate, pad, strict=True)
    ]
    ones = (1,) * (3 - len(kernel))
    return {
        "batch": batch, "groups": a.num_group, "channels": channels // a.num_group,
        "filters": a.num_filter // a.num_group, "source": (*ones, *source),
        "target": (*ones, *target), "kernel": (*ones, *kernel), "stride": (*ones, *stride),
        "dilate": (*ones, *dilate), "pad": (*(0 for _ in ones), *pad), "in_block": a.in_block,
        "out_block": a.out_block, "before": _BEFORE.index(a.before), "bias": not a.no_bias,
        "sum": a.with_sum, "act": _NUMBERS[a.act], "tile": a.tile, "alpha": a.alpha, "beta": a.beta,
    }  # fmt: skip


def _conv_params(a, ins, outs):
    data = _plain_spec(ins[0], a.in_block)
    return _conv_struct(a, data.shape[0], data.shape[1], data.shape[2:])


def _conv_work(a, ins, outs):
    # A vector's worth of multiply-adds is one elementwise step.
    channels = _plain_spec(ins[0], a.in_block).shape[1]
    taps = channels // a.num_group * math.prod(a.kernel)
    return outs[0].size * taps // 16 + ins[0].size + outs[0].size


_CONV_SAMPLES = (
    sample((2, 3, 5, 6), (4, 3, 3, 3), (4,), kernel=(3, 3), num_filter=4),
    sample((2, 3, 5, 6), (4, 3, 3, 3), kernel=(3, 3), num_filter=4, no_bias=True, act="relu"),
    sample(
        (2, 4, 5, 5), (4, 1, 3, 3), (4,), (2, 4, 5, 5), kernel=(3, 3), num_filter=4, num_group=4,
        pad=(1, 1), with_sum=True, act="relu",
    ),
    sample(
        (2, 1, 5, 5, 8), (16, 8, 3, 3), (2, 16, 3, 3), kernel=(3, 3), num_filter=16, pad=(1, 1),
        stride=(2, 2), in_block=8, with_sum=True, no_bias=True, act="leaky", alpha=0.1,
    ),
    sample(
        (1, 3, 6, 4), (16, 3, 1, 1), (16,), (1, 2, 6, 4, 8), kernel=(1, 1), num_filter=16,
        out_block=8, with_sum=True, act="clip", alpha=-0.5, beta=0.75,
    ),
    sample(
        (1, 2, 9, 8), (8, 16, 3), (8,), kernel=(3,), num_filter=8, in_block=8, out_block=8,
        act="tanh",
    ),
    sample(
        (1, 1, 3, 4, 3, 8), (8, 4, 2, 2, 1), (8,), kernel=(2, 2, 1), num_filter=8, num_group=2,
        in_block=8, out_block=8, act="gelu_erf",
    ),
    sample(
        (2, 2, 4, 5, 8), (8, 16, 1, 1), (8,), (16,), (16,), (2, 1, 4, 5, 8), kernel=(1, 1),
        num_filter=8, in_block=8, out_block=8, before="scale_relu", with_sum=True,
    ),
    sample(
        (1, 1, 3, 4, 8), (8, 8, 3, 3), (8,), (8,), kernel=(3, 3), num_filter=8, pad=(1, 1),
        no_bias=True, in_block=8, out_block=8, before="scale",
    ),
)  # fmt: skip


@op(
    "_sg_onednn_conv",
    aliases=("_sg_mkldnn_conv",),
    inputs="data weight bias? scale? shift? other?",
)
class FusedConvolution:
    """Convolution, bias, sum with another array and activation in one.

    With `before`, ``data * scale + shift`` (and its positive part) takes the place of the data.

    Shapes: data (batch, channel, spatial...) or blocked by `in_block`; weight (num_filter,
    channel / num_group, kernel...), or with `algo` the `packed` bytes that `_pack_conv_weight`
    made; bias (num_filter,) unless `no_bias`; scale and shift (channel,), unless `before` is
    ``none``; other, if `with_sum`, like the output, which is plain or blocked by `out_block`. See
    `Convolution` for the rest.

    `act` may use `alpha` and `beta`: ``leaky`` and ``elu`` (slope alpha), ``clip`` (to [alpha,
    beta]), ``linear`` (alpha * x + beta). `tile` is the chosen algorithm's own parameter.
    """

    kernel: Shape
    stride: Shape = ()
    dilate: Shape = ()
    pad: Shape = ()
    num_filter: UInt
    num_group: UInt = 1
    no_bias: Bool = False
    in_block: Int = 0
    out_block: Int = 0
    channels: UInt = 0
    before: _Before = "none"
    act: _Activation = "none"
    alpha: Float = 0.0
    beta: Float = 0.0
    with_sum: Bool = False
    algo: Str = ""
    tile: Int = 0
    packed: Long = 0

    arguments = _conv_names
    samples = _CONV_SAMPLES

    def infer(a, data, weight, *rest):
        scale, shift, rest = _split(a, rest)
        bias, other = _extras(a, rest)
        shadow = Spec() if a.algo else weight
        shape, dtype = conv_shapes(a, _plain_spec(data, a.in_block), shadow)
        if a.algo:
            _fill_blob(a, weight)
            dtype = data.dtype
        elif data.dtype is None:
            data.dtype = dtype
        if a.channels and shape is not None and not a.algo and weight.shape is not None:
            inner = weight.shape[1]
            require(
                inner in (-1, a.channels // a.num_group),
                f"channels: {a.channels} does not fit weight {weight.shape}",
            )
        shape = blocked_shape(shape, a.out_block, "output") if a.out_block else shape
        if bias is not None:
            bias.fill("bias", (a.num_filter,), dtype)
        if scale is not None:
            source = _plain_spec(data, a.in_block).shape
            for vector, name in ((scale, "scale"), (shift, "shift")):
                vector.fill(name, (-1 if source is None else source[1],), dtype)
        if other is not None:
            other.fill("other", shape, dtype)
        return Spec(shape, dtype)

    def ref(a, xp, data, weight, *rest):
        _require_plain(a)
        scale, shift, rest = _split(a, rest)
        bias, other = _extras(a, rest)
        data = plain(xp, data) if a.in_block else data
        if scale is not None:
            shape = (-1, *[1] * len(a.kernel))
            data = data * scale.reshape(shape) + shift.reshape(shape)
            data = xp.maximum(data, 0) if a.before == "scale_relu" else data
        out = forward_ref(a, xp, data, weight)
        if bias is not None:
            out = out + bias.reshape(-1, *[1] * len(a.kernel))
        if a.out_block:
            out = blocked(xp, out, a.out_block)
        return activate(a, xp, out if other is None else out + other)

    kernels = (
        _chosen(struct=FUSED_CONV, params=_conv_params, work=_conv_work),
        *map(_unfused, Convolution.kernels),
    )


def _pack_ref(a, xp, weight):
    """Without an algorithm, packing is taking the bytes."""
    _require_plain(a)
    return xp.ascontiguousarray(weight.astype(np.float32)).reshape(-1).view(np.uint8)


def _infer_packed(a, weight):
    weight.fill("weight", dtype=dtypes.code_of("float32"))
    require(
        a.algo or not weight.known or a.packed == 4 * weight.size,
        f"packed: plain weights of shape {weight.shape} do not have {a.packed} bytes",
    )
    return Spec((a.packed,), _U8)


def _packer(**parts):
    """The kernel that packs for attribute `algo`."""
    return native(
        lambda a, ins, outs: f"{a.algo}_pack",
        when=lambda a, ins, outs: None if a.algo else "the weights stay plain",
        **parts,
    )


def _infer_pack_conv(a, weight):
    channels = a.channels // a.num_group or -1
    weight.fill("weight", (a.num_filter, channels, *a.kernel))
    return _infer_packed(a, weight)


register(
    "_pack_conv_weight",
    doc="""Weights of `_sg_onednn_conv` in the layout of the kernel `algo`, as `packed` bytes.

The other attributes describe the convolution that will use them, with its `batch` and the spatial
extents `source` of its data.""",
    inputs="weight",
    fields=(*FusedConvolution.schema.fields, Field("batch", Int, 1), Field("source", Shape, ())),
    infer=_infer_pack_conv,
    ref=_pack_ref,
    kernels=(
        _packer(
            struct=FUSED_CONV,
            params=lambda a, ins, outs: _conv_struct(
                a, a.batch, ins[0].shape[1] * a.num_group, a.source
            ),
        ),
    ),
    dtypes=("float32",),
    samples=(
        sample((4, 3, 3, 3), kernel=(3, 3), num_filter=4, packed=432, source=(5, 5)),
        sample((4, 2, 1), kernel=(1,), num_filter=4, num_group=2, packed=32, source=(7,)),
    ),
)


# --- dense layer -----------------------------------------------------------------------------


def _dense_struct(a, rows, depth):
    return {
        "rows": rows, "hidden": a.num_hidden, "depth": depth, "bias": not a.no_bias,
        "sum": a.with_sum, "act": _NUMBERS[a.act], "tile": a.tile, "alpha": a.alpha,
        "beta": a.beta,
    }  # fmt: skip


def _depth(a, data):
    """How many elements of the data a row has; -1 when unknown."""
    if data.shape is None:
        return -1
    inner = data.shape[1:] if a.flatten else data.shape[-1:]
    return -1 if -1 in inner else math.prod(inner)


@op(
    "_sg_onednn_fully_connected",
    aliases=("_sg_mkldnn_fully_connected",),
    inputs="data weight bias? other?",
)
class FusedFullyConnected:
    """Dense layer, bias, sum with another array and activation in one.

    Shapes are those of `FullyConnected`; `other`, if `with_sum`, is like the output, and with
    `algo` the weight is the `packed` bytes that `_pack_fc_weight` made. For `act`, `alpha` and
    `beta` see `_sg_onednn_conv`.
    """

    num_hidden: Int
    no_bias: Bool = False
    flatten: Bool = True
    act: _Activation = "none"
    alpha: Float = 0.0
    beta: Float = 0.0
    with_sum: Bool = False
    algo: Str = ""
    tile: Int = 0
    packed: Long = 0

    arguments = _names

    def samples():
        yield sample((2, 3, 2), (4, 6), (4,), num_hidden=4)
        yield sample((2, 6), (4, 6), (2, 4), num_hidden=4, no_bias=True, with_sum=True)
        yield sample(
            (2, 3, 5), (4, 5), (4,), (2, 3, 4), num_hidden=4, flatten=False, with_sum=True,
            act="relu",
        )  # fmt: skip
        for act in ACTIVATIONS:
            bias = values(3, 5, (4,)) if act == "sqrt" else (4,)
            numbers = {"alpha": -0.25, "beta": 0.5} if act == "clip" else {"alpha": 0.25}
            yield sample((3, 2), (4, 2), bias, num_hidden=4, act=act, **numbers)

    def infer(a, data, weight, *rest):
        bias, other = _extras(a, rest)
        shadow = Spec(dtype=data.dtype) if a.algo else weight
        found = FullyConnected.infer(a, [data, shadow])[0]
        if a.algo:
            _fill_blob(a, weight)
        if bias is not None:
            bias.fill("bias", (a.num_hidden,), found.dtype)
        if other is not None:
            other.fill("other", found.shape, found.dtype)
        return found

    def ref(a, xp, data, weight, *rest):
        _require_plain(a)
        bias, other = _extras(a, rest)
        out = FullyConnected.ref(a, xp, data, weight, bias)
        return activate(a, xp, out if other is None else out + other)

    kernels = (
        _chosen(
            struct=FUSED_DENSE,
            params=lambda a, ins, outs: _dense_struct(
                a, outs[0].size // a.num_hidden, _depth(a, ins[0])
            ),
            work=lambda a, ins, outs: (
                (outs[0].size // 16 + a.num_hidden // 4) * _depth(a, ins[0]) + ins[0].size
            ),
        ),
        *map(_unfused, FullyConnected.kernels),
        native(
            "fc_onednn_plain",
            struct=FUSED_DENSE,
            params=lambda a, ins, outs: _dense_struct(
                a, outs[0].size // a.num_hidden, ins[1].shape[1]
            ),
            when=lambda a, ins, outs: "packed weights" if a.algo else None,
            work=lambda a, ins, outs: outs[0].size * ins[1].shape[1] // 16 + ins[1].size // 4,
            inplace=_overwrites,
            asks=True,
        ),
    )


def _infer_pack_dense(a, weight):
    weight.fill("weight", (a.num_hidden, -1))
    return _infer_packed(a, weight)


register(
    "_pack_fc_weight",
    doc="""Weights of `_sg_onednn_fully_connected` in the layout of the kernel `algo`, as bytes.

The other attributes describe the layer that will use them; its data has `batch` rows.""",
    inputs="weight",
    fields=(*FusedFullyConnected.schema.fields, Field("batch", Int, 1)),
    infer=_infer_pack_dense,
    ref=_pack_ref,
    kernels=(
        _packer(
            struct=FUSED_DENSE,
            params=lambda a, ins, outs: _dense_struct(a, a.batch, ins[0].shape[1]),
        ),
    ),
    dtypes=("float32",),
    samples=(sample((4, 6), num_hidden=4, packed=96),),
)
