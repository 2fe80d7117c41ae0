"""Deconvolution (transposed convolution) in one, two and three dimensions; see conv.py."""

import math

from mxcy.ops.convolution.conv import FUSED_ATTRS, data_ref, divides
from mxcy.ops.convolution.conv_kernels import conv_kernels
from mxcy.ops.convolution.windows import Filters, Window, reach, resolve
from mxcy.ops.core.attrs import Bool, Enum, Shape, ULong
from mxcy.ops.core.infer import Spec, back_batch, require, same_dtype
from mxcy.ops.core.layer import Layer
from mxcy.ops.core.record import op, sample

__all__ = ["Deconvolution", "Target", "resolve_deconv"]


class Target:
    """Attributes that select one of the possible output extents of a deconvolution."""

    adj: Shape = ()
    target_shape: Shape = ()


def resolve_deconv(a, spatial):
    """Return (pad, output extents) of a deconvolution for these input extents.

    With `target_shape`, padding and `adj` are derived from it.
    """
    kernel, stride, dilate, pad = resolve(a)
    n = len(kernel)
    adj = a.adj or (0,) * n
    require(len(adj) == n, f"adj: expected {n} values as in kernel {kernel}, got {adj}")
    full_sizes = [
        -1 if x == -1 else s * (x - 1) + r
        for x, s, r in zip(spatial, stride, reach(kernel, dilate), strict=True)
    ]
    if a.target_shape and any(a.target_shape):
        require(
            len(a.target_shape) == n, f"target_shape: expected {n} values, got {a.target_shape}"
        )
        pads = []
        for total, target in zip(full_sizes, a.target_shape, strict=True):
            require(
                total == -1 or total >= target,
                f"target_shape: {target} exceeds the largest, {total}",
            )
            pads.append(0 if total == -1 else math.ceil((total - target) / 2))
        return tuple(pads), tuple(a.target_shape)
    for x, s in zip(adj, stride, strict=True):
        require(x < s, f"adj: {adj} must be smaller than stride {stride}")
    out = [-1 if w == -1 else w - 2 * p + x for w, p, x in zip(full_sizes, pad, adj, strict=True)]
    require(all(x == -1 or x > 0 for x in out), f"pad: {pad} leaves no output")
    return pad, tuple(out)


@op(
    "Deconvolution",
    aliases=("_npx_deconvolution",),
    inputs="data weight bias?",
    numpy=(
        "npx.deconvolution(data=None, weight=None, bias=None, kernel=None, stride=None, "
        "dilate=None, pad=None, adj=None, target_shape=None, num_filter=1, num_group=1, "
        "workspace=1024, no_bias=False, cudnn_tune=None, cudnn_off=False, layout=None, "
        "out=None, name=None)"
    ),
    amp="lp16/fp32",
)
class Deconvolution(Window, Target, Filters):
    """Apply a 1-D, 2-D or 3-D transposed convolution.

    Shapes: data (batch, channel, spatial...), weight (channel, num_filter / num_group, kernel...),
    bias (num_filter,). Each spatial extent becomes
    ``stride * (x - 1) + dilate * (kernel - 1) + 1 - 2 * pad + adj``, or `target_shape` with padding
    chosen to fit.
    """

    workspace: ULong = 512
    no_bias: Bool = True
    cudnn_tune: Enum(None, "fastest", "limited_workspace", "off") = None
    cudnn_off: Bool = False
    layout: Enum(None, "NCDHW", "NCHW", "NCW", "NDHWC", "NHWC") = None

    dtypes = ("float32", "float64", "float16", "bfloat16")
    samples = (
        sample((2, 3, 4, 5), (3, 2, 3, 3), kernel=(3, 3), num_filter=2, stride=(2, 2), adj=(1, 1)),
        sample(
            (2, 4, 3, 3),
            (4, 3, 4, 4),
            (6,),
            kernel=(4, 4),
            num_filter=6,
            num_group=2,
            stride=(2, 2),
            pad=(1, 1),
            no_bias=False,
        ),
        sample(
            (2, 3, 5, 5),
            (3, 2, 4, 4),
            kernel=(4, 4),
            num_filter=2,
            stride=(2, 2),
            target_shape=(11, 11),
        ),
        sample((2, 3, 6), (3, 2, 3), kernel=(3,), num_filter=2, stride=(2,), pad=(1,), dilate=(2,)),
        sample((1, 2, 2, 3, 2), (2, 3, 2, 2, 2), kernel=(2, 2, 2), num_filter=3, stride=(2, 1, 2)),
        sample((2, 4, 5, 5), (4, 1, 3, 3), kernel=(3, 3), num_filter=4, num_group=4, pad=(1, 1)),
        sample(
            (1, 16, 32, 32),
            (16, 16, 3, 3),
            kernel=(3, 3),
            num_filter=16,
            pad=(1, 1),
            dtypes=("float32",),
            tol=4,
        ),
    )

    kernels = conv_kernels(
        "_data",
        lambda ins, outs: (outs[0], ins[1], ins[0]),
        pads=lambda a, spatial: resolve_deconv(a, spatial)[0],
    )

    def infer(a, data, weight, bias=None):
        dtype = same_dtype((data, weight), ("data", "weight"))
        if bias is not None:
            bias.fill("bias", data.shape and (a.num_filter,), dtype)
        if data.shape is None:
            return Spec(None, dtype)
        n = len(a.kernel)
        require(data.ndim == n + 2, f"data: expected {n + 2} dimensions, got shape {data.shape}")
        divides(data.shape[1], a.num_group, "data")
        divides(a.num_filter, a.num_group, "num_filter")
        weight.fill("weight", (data.shape[1], a.num_filter // a.num_group, *a.kernel))
        _, spatial = resolve_deconv(a, data.shape[2:])
        return Spec((data.shape[0], a.num_filter, *spatial), dtype)

    layer = Layer(
        "_sg_onednn_deconv",
        (*FUSED_ATTRS, "adj", "target_shape"),
        "conv",
        filters=lambda a: {"axis": 1, "num_group": a.num_group},
    )

    infer_back = back_batch

    def grad(a, F, g, data, weight, needs):
        kernel, stride, dilate, _ = resolve(a)
        pad, _ = resolve_deconv(a, data.shape[2:])
        shared = {
            "kernel": kernel,
            "stride": stride,
            "dilate": dilate,
            "pad": pad,
            "num_filter": data.shape[1],
            "num_group": a.num_group,
        }
        # The output may exceed the windows of the inverse convolution by up to adj.
        by_data = by_weight = None
        if needs[0]:
            by_data = F.Convolution(g, weight, no_bias=True, **shared)
            if by_data.shape != data.shape:
                by_data = F.slice_like(by_data, data)
        if needs[1]:
            by_weight = F._conv_weight(g, data, **shared)
        by_bias = F.sum(g, axis=1, exclude=True) if len(needs) > 2 and needs[2] else None
        return by_data, by_weight, by_bias

    def ref(a, xp, data, weight, bias=None):
        pad, spatial = resolve_deconv(a, data.shape[2:])
        out = data_ref(_WithPad(a, pad), xp, data, weight, spatial)
        return out if bias is None else out + bias.reshape(-1, *[1] * len(a.kernel))


class _WithPad:
    """Convolution attributes with a different padding."""

    def __init__(self, a, pad):
        self.kernel, self.stride, self.dilate, self.pad = a.kernel, a.stride, a.dilate, pad
        self.num_group = a.num_group
