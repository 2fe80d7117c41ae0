"""Deconvolution fused with what follows it, and packing of its weights.

The counterpart of conv.py, on plain and blocked arrays.
"""

import math

from mxcy.ops.convolution.deconv import Deconvolution, Target, resolve_deconv
from mxcy.ops.convolution.windows import Filters, Window
from mxcy.ops.core.attrs import Bool, Field, Int, Shape
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.params import FUSED_CONV
from mxcy.ops.core.record import op, register, sample
from mxcy.ops.fused.blocked import blocked, blocked_shape, plain
from mxcy.ops.fused.conv import conv_struct, plain_spec
from mxcy.ops.fused.layer import (
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
    require_plain,
    unfused,
)

__all__ = []


def _struct(a, batch, channels, source):
    pad, target = resolve_deconv(a, source)
    return conv_struct(a, batch, channels, source, target, pad)


def _params(a, ins, outs):
    data = plain_spec(ins[0], a.in_block)
    return _struct(a, data.shape[0], data.shape[1], data.shape[2:])


def _work(a, ins, outs):
    # A vector of multiply-adds costs one elementwise step.
    taps = a.num_filter // a.num_group * math.prod(a.kernel)
    return ins[0].size * taps // 16 + ins[0].size + outs[0].size


@op("_sg_onednn_deconv", inputs="data weight bias? other?")
class FusedDeconvolution(Window, Target, Filters, Blocks, Epilogue, Algorithm):
    """Apply a deconvolution fused with bias, sum with another array, and activation.

    Shapes: data (batch, channel, spatial...) or blocked by `in_block`; weight (channel,
    num_filter / num_group, kernel...), or with `algo` the `packed` bytes that
    `_pack_deconv_weight` made; bias (num_filter,) unless `no_bias`; other, if `with_sum`, like the
    output, which is plain or blocked by `out_block`. See `Deconvolution` for the rest, and
    `_sg_onednn_conv` for `act`, `alpha`, `beta` and `tile`.
    """

    no_bias: Bool = True

    arguments = names
    samples = (
        sample((2, 3, 4, 5), (3, 2, 3, 3), kernel=(3, 3), num_filter=2, stride=(2, 2), adj=(1, 1)),
        sample(
            (2, 4, 3, 3),
            (4, 3, 4, 4),
            (6,),
            (2, 6, 6, 6),
            kernel=(4, 4),
            num_filter=6,
            num_group=2,
            stride=(2, 2),
            pad=(1, 1),
            no_bias=False,
            with_sum=True,
            act="relu",
        ),
        sample(
            (2, 2, 3, 3, 8),
            (16, 8, 4, 4),
            (8,),
            kernel=(4, 4),
            num_filter=8,
            stride=(2, 2),
            target_shape=(7, 7),
            no_bias=False,
            in_block=8,
            out_block=8,
            act="leaky",
            alpha=0.1,
        ),
        sample(
            (1, 3, 5),
            (3, 8, 3),
            (1, 1, 9, 8),
            kernel=(3,),
            num_filter=8,
            stride=(2,),
            pad=(1,),
            out_block=8,
            with_sum=True,
            act="clip",
            alpha=-0.5,
            beta=0.75,
        ),
        sample(
            (1, 1, 2, 3, 2, 8),
            (8, 3, 2, 2, 2),
            kernel=(2, 2, 2),
            num_filter=3,
            in_block=8,
            stride=(2, 1, 2),
            act="tanh",
        ),
        sample((2, 4, 5, 5), (4, 1, 3, 3), kernel=(3, 3), num_filter=4, num_group=4, pad=(1, 1)),
        sample((1, 16, 32, 32), (16, 16, 3, 3), kernel=(3, 3), num_filter=16, pad=(1, 1), tol=4),
    )

    def infer(a, data, weight, *optional):
        bias, other = extras(a, optional)
        shadow = Spec(dtype=data.dtype) if a.algo else weight
        inferred = Deconvolution._infer(a, plain_spec(data, a.in_block), shadow)
        if a.algo:
            fill_blob(a, weight)
        elif data.dtype is None:
            data.dtype = inferred.dtype
        shape = inferred.shape
        shape = blocked_shape(shape, a.out_block, "output") if a.out_block else shape
        if bias is not None:
            bias.fill("bias", (a.num_filter,), inferred.dtype)
        if other is not None:
            other.fill("other", shape, inferred.dtype)
        return Spec(shape, inferred.dtype)

    def ref(a, xp, data, weight, *optional):
        require_plain(a)
        bias, other = extras(a, optional)
        out = Deconvolution.ref(a, xp, plain(xp, data) if a.in_block else data, weight, bias)
        if a.out_block:
            out = blocked(xp, out, a.out_block)
        return activate(a, xp, out if other is None else out + other)

    kernels = (
        chosen("deconv_", struct=FUSED_CONV, params=_params, work=_work),
        *map(unfused, Deconvolution.kernels),
    )


def _infer_pack(a, weight):
    require(a.num_group > 0, f"num_group: must be positive, got {a.num_group}")
    weight.fill("weight", (a.channels or -1, a.num_filter // a.num_group, *a.kernel))
    return infer_packed(a, weight)


register(
    "_pack_deconv_weight",
    doc="""Pack weights of `_sg_onednn_deconv` in the layout of kernel `algo`, as `packed` bytes.

The other attributes describe the deconvolution that uses them, with its `batch` and the spatial
extents `source` of its data.""",
    inputs="weight",
    fields=(*FusedDeconvolution.schema.fields, Field("batch", Int, 1), Field("source", Shape, ())),
    infer=_infer_pack,
    ref=pack_ref,
    kernels=(
        packer(
            "deconv_",
            struct=FUSED_CONV,
            params=lambda a, ins, outs: _struct(a, a.batch, ins[0].shape[0], a.source),
        ),
    ),
    dtypes=("float32",),
    samples=(
        sample((3, 4, 3, 3), kernel=(3, 3), num_filter=4, packed=432, source=(5, 5)),
        sample((4, 2, 1), kernel=(1,), num_filter=4, num_group=2, packed=32, source=(7,)),
    ),
)
