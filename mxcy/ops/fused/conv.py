"""Convolution fused with the operations around it, and packing of its weights.

A convolution may also scale, shift and rectify its data first. A blocked array (see blocked.py) has
the shape (batch, channels / block, spatial..., block); `in_block` and `out_block` are the block
sizes, 0 for plain arrays.
"""

import math

from mxcy.ops.convolution.conv import Convolution, conv_shapes, forward_ref
from mxcy.ops.convolution.windows import Filters, Window, resolve
from mxcy.ops.core.attrs import Bool, Enum, Field, Int, Shape, UInt
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.params import FUSED_CONV
from mxcy.ops.core.record import op, register, sample
from mxcy.ops.fused.blocked import blocked, blocked_shape, plain, plain_shape
from mxcy.ops.fused.layer import (
    NUMBERS,
    Algorithm,
    Blocks,
    Epilogue,
    activate,
    chosen,
    extras,
    fill_blob,
    infer_packed,
    names,
    pack_ref,
    packer,
    parameters_of,
    require_plain,
    unfused,
)

__all__ = ["conv_struct", "plain_spec"]

#: Operations before a convolution; kernels get the index into this tuple.
_BEFORE = ("none", "scale", "scale_relu")
_Before = Enum(*_BEFORE)


def _conv_names(a):
    """Return the input names of a call."""
    input_names = names(a)
    if a.before == "none":
        return input_names
    place = len(input_names) - a.with_sum
    return (*input_names[:place], "scale", "shift", *input_names[place:])


def _split(a, optional):
    """Return scale and shift of the data (or two None), and the remaining inputs."""
    if a.before == "none":
        return None, None, optional
    place = len(optional) - a.with_sum - 2
    return optional[place], optional[place + 1], (*optional[:place], *optional[place + 2 :])


def plain_spec(spec, block):
    """Return the plain spec of a possibly blocked array."""
    if not block or spec.shape is None:
        return Spec(spec.shape, spec.dtype)
    require(
        spec.ndim > 0 and spec.shape[-1] in (-1, block),
        f"data: expected {block} channels innermost, got shape {spec.shape}",
    )
    return Spec(plain_shape(spec.shape), spec.dtype)


def conv_struct(a, batch, channels, source, target, pad, before="none", spare=(0, 0)):
    """Return FUSED_CONV for plain extents, of a convolution or a deconvolution."""
    kernel, stride, dilate, _ = resolve(a)
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
        "in_block": a.in_block,
        "out_block": a.out_block,
        "spare_channels": spare[0],
        "spare_filters": spare[1],
        "before": _BEFORE.index(before),
        "bias": not a.no_bias,
        "sum": a.with_sum,
        "act": NUMBERS[a.act],
        "tile": a.tile,
        "alpha": a.alpha,
        "beta": a.beta,
    }


def _struct(a, batch, channels, source):
    kernel, stride, dilate, pad = resolve(a)
    target = [
        (x + 2 * p - (k - 1) * d - 1) // s + 1
        for x, k, s, d, p in zip(source, kernel, stride, dilate, pad, strict=True)
    ]
    spare = a.spare_channels, a.spare_filters
    return conv_struct(a, batch, channels, source, target, pad, a.before, spare)


def _params(a, ins, outs):
    data = plain_spec(ins[0], a.in_block)
    return _struct(a, data.shape[0], data.shape[1], data.shape[2:])


def _work(a, ins, outs):
    # A vector of multiply-adds costs one elementwise step.
    channels = plain_spec(ins[0], a.in_block).shape[1]
    taps = channels // a.num_group * math.prod(a.kernel)
    return outs[0].size * taps // 16 + ins[0].size + outs[0].size


_SAMPLES = (
    sample((2, 3, 5, 6), (4, 3, 3, 3), (4,), kernel=(3, 3), num_filter=4),
    sample((2, 3, 5, 6), (4, 3, 3, 3), kernel=(3, 3), num_filter=4, no_bias=True, act="relu"),
    sample(
        (2, 4, 5, 5),
        (4, 1, 3, 3),
        (4,),
        (2, 4, 5, 5),
        kernel=(3, 3),
        num_filter=4,
        num_group=4,
        pad=(1, 1),
        with_sum=True,
        act="relu",
    ),
    sample(
        (2, 1, 5, 5, 8),
        (16, 8, 3, 3),
        (2, 16, 3, 3),
        kernel=(3, 3),
        num_filter=16,
        pad=(1, 1),
        stride=(2, 2),
        in_block=8,
        with_sum=True,
        no_bias=True,
        act="leaky",
        alpha=0.1,
    ),
    sample(
        (1, 3, 6, 4),
        (16, 3, 1, 1),
        (16,),
        (1, 2, 6, 4, 8),
        kernel=(1, 1),
        num_filter=16,
        out_block=8,
        with_sum=True,
        act="clip",
        alpha=-0.5,
        beta=0.75,
    ),
    sample(
        (1, 2, 9, 8),
        (8, 16, 3),
        (8,),
        kernel=(3,),
        num_filter=8,
        in_block=8,
        out_block=8,
        act="tanh",
    ),
    sample(
        (1, 1, 3, 4, 3, 8),
        (8, 4, 2, 2, 1),
        (8,),
        kernel=(2, 2, 1),
        num_filter=8,
        num_group=2,
        in_block=8,
        out_block=8,
        act="gelu_erf",
    ),
    sample(
        (2, 2, 4, 5, 8),
        (8, 16, 1, 1),
        (8,),
        (16,),
        (16,),
        (2, 1, 4, 5, 8),
        kernel=(1, 1),
        num_filter=8,
        in_block=8,
        out_block=8,
        before="scale_relu",
        with_sum=True,
    ),
    sample(
        (1, 1, 3, 4, 8),
        (8, 8, 3, 3),
        (8,),
        (8,),
        kernel=(3, 3),
        num_filter=8,
        pad=(1, 1),
        no_bias=True,
        in_block=8,
        out_block=8,
        before="scale",
    ),
    sample((2, 4, 5, 5), (4, 1, 3, 3), (4,), kernel=(3, 3), num_filter=4, num_group=4, pad=(1, 1)),
    sample((1, 16, 32, 32), (16, 16, 3, 3), (16,), kernel=(3, 3), num_filter=16, pad=(1, 1), tol=4),
)


@op(
    "_sg_onednn_conv",
    aliases=("_sg_mkldnn_conv",),
    inputs="data weight bias? scale? shift? other?",
    amp="fp32",
)
class FusedConvolution(Window, Filters, Blocks, Epilogue, Algorithm):
    """Apply a convolution fused with bias, sum with another array, and activation.

    With `before`, the data is replaced by ``data * scale + shift`` (or its positive part).

    Shapes: data (batch, channel, spatial...) or blocked by `in_block`; weight (num_filter,
    channel / num_group, kernel...), or with `algo` the `packed` bytes that `_pack_conv_weight`
    made; bias (num_filter,) unless `no_bias`; scale and shift (channel,), unless `before` is
    ``none``; other, if `with_sum`, like the output, which is plain or blocked by `out_block`. See
    `Convolution` for the rest.

    `act` may use `alpha` and `beta`: ``leaky`` and ``elu`` (slope alpha), ``clip`` (to [alpha,
    beta]), ``linear`` (alpha * x + beta), ``hard_swish`` (x times that, limited to [0, 1]). `tile`
    is a parameter of the chosen algorithm. The last `spare_channels` and `spare_filters` have zero
    weights, which a kernel may leave out.
    """

    no_bias: Bool = False
    before: _Before = "none"
    spare_channels: UInt = 0
    spare_filters: UInt = 0

    arguments = _conv_names
    samples = _SAMPLES

    def batched(a, ins):
        return (0, len(ins) - 1) if a.with_sum else (0,)

    def infer(a, data, weight, *optional):
        scale, shift, optional = _split(a, optional)
        bias, other = extras(a, optional)
        shadow = Spec() if a.algo else weight
        shape, dtype = conv_shapes(a, parameters_of(plain_spec(data, a.in_block)), shadow)
        if a.algo:
            fill_blob(a, weight)
            dtype = parameters_of(data).dtype
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
            source = plain_spec(data, a.in_block).shape
            for vector, name in ((scale, "scale"), (shift, "shift")):
                vector.fill(name, (-1 if source is None else source[1],), dtype)
        if other is not None:
            other.fill("other", shape, data.dtype)
        return Spec(shape, data.dtype)

    def ref(a, xp, data, weight, *optional):
        require_plain(a)
        scale, shift, optional = _split(a, optional)
        bias, other = extras(a, optional)
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
        chosen("conv_", struct=FUSED_CONV, params=_params, work=_work),
        *map(unfused, Convolution.kernels),
    )


def _infer_pack(a, weight):
    require(a.num_group > 0, f"num_group: must be positive, got {a.num_group}")
    channels = a.channels // a.num_group or -1
    weight.fill("weight", (a.num_filter, channels, *a.kernel))
    return infer_packed(a, weight)


register(
    "_pack_conv_weight",
    doc="""Pack weights of `_sg_onednn_conv` in the layout of the kernel `algo`, as `packed` bytes.

The other attributes describe the convolution that uses them, with its `batch` and the spatial
extents `source` of its data.""",
    inputs="weight",
    fields=(*FusedConvolution.schema.fields, Field("batch", Int, 1), Field("source", Shape, ())),
    infer=_infer_pack,
    ref=pack_ref,
    kernels=(
        packer(
            "conv_",
            struct=FUSED_CONV,
            params=lambda a, ins, outs: _struct(
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
