"""Convolution in one, two and three dimensions.

Three bilinear maps that are each other's gradients carry the family: the convolution itself, its
transpose with respect to the data, and its transpose with respect to the weight
(conv_transposes.py). A deconvolution (deconv.py) is the second of them. Shapes are (batch,
channel, spatial...); weights (out, in / groups, kernel...).
"""

from mxcy.ops.convolution.conv_kernels import conv_kernels
from mxcy.ops.convolution.windows import Filters, Window, padded, reach, resolve, windows
from mxcy.ops.core.attrs import Bool, Enum, ULong
from mxcy.ops.core.infer import Spec, back_batch, require, same_dtype
from mxcy.ops.core.layer import Layer
from mxcy.ops.core.quantized import Quantized
from mxcy.ops.core.record import op, sample

__all__ = [
    "CONV_SAMPLES",
    "FUSED_ATTRS",
    "conv_attrs",
    "conv_shapes",
    "data_ref",
    "divides",
    "forward_ref",
    "weight_ref",
]

#: attributes shared by convolutions and the fused operators; see `Layer`
FUSED_ATTRS = ("kernel", "stride", "dilate", "pad", "num_filter", "num_group", "no_bias")


def divides(channels, groups, name):
    """Require that channels, if known, are divisible into groups."""
    require(groups >= 1, f"num_group: must be positive, got {groups}")
    if channels != -1:
        require(channels % groups == 0, f"{name}: {channels} channels cannot form {groups} groups")


def _grouped(xp, array, groups, axis):
    """Split the channel axis of `array` into (groups, channels per group)."""
    shape = array.shape
    return array.reshape(*shape[:axis], groups, shape[axis] // groups, *shape[axis + 1 :])


def forward_ref(a, xp, data, weight):
    """Convolve (cross-correlate), one kernel position at a time."""
    kernel, stride, dilate, pad = resolve(a)
    data = padded(xp, data, pad)
    covered = reach(kernel, dilate)
    spatial = [(n - r) // s + 1 for n, r, s in zip(data.shape[2:], covered, stride, strict=True)]
    data = _grouped(xp, data, a.num_group, 1)
    weight = _grouped(xp, weight, a.num_group, 0)
    out = 0
    for position, window in windows(kernel, stride, dilate, spatial):
        taps = weight[(..., *position)]
        out = out + xp.einsum("ngc...,goc->ngo...", data[(..., *window)], taps)
    return out.reshape(out.shape[0], -1, *spatial)


def data_ref(a, xp, grad, weight, spatial):
    """Apply the transpose with respect to the data of the given spatial extents."""
    kernel, stride, dilate, pad = resolve(a)
    full = [n + 2 * p for n, p in zip(spatial, pad, strict=True)]
    spread = _grouped(xp, grad, a.num_group, 1)
    weight = _grouped(xp, weight, a.num_group, 0)
    dtype = xp.result_type(grad, weight)
    out = xp.zeros((grad.shape[0], a.num_group, weight.shape[2], *full), dtype)
    for position, window in windows(kernel, stride, dilate, grad.shape[2:]):
        taps = weight[(..., *position)]
        out[(..., *window)] += xp.einsum("ngo...,goc->ngc...", spread, taps)
    crop = tuple(slice(p, p + n) for p, n in zip(pad, spatial, strict=True))
    return out.reshape(grad.shape[0], -1, *full)[(slice(None), slice(None), *crop)]


def weight_ref(a, xp, data, grad):
    """Apply the transpose with respect to the weight."""
    kernel, stride, dilate, pad = resolve(a)
    data = _grouped(xp, padded(xp, data, pad), a.num_group, 1)
    spread = _grouped(xp, grad, a.num_group, 1)
    axes = "xyz"[: len(kernel)]
    rows = [
        xp.einsum(f"ngo{axes},ngc{axes}->goc", spread, data[(..., *window)])
        for _, window in windows(kernel, stride, dilate, grad.shape[2:])
    ]
    out = xp.stack(rows, axis=-1)
    return out.reshape(grad.shape[1], data.shape[2], *kernel)


def conv_shapes(a, data, weight):
    """Infer the weight and return the output's shape and dtype."""
    kernel, stride, dilate, pad = resolve(a)
    dtype = same_dtype((data, weight), ("data", "weight"))
    if data.shape is None:
        return None, dtype
    require(
        data.ndim == len(kernel) + 2,
        f"data: expected {len(kernel) + 2} dimensions for kernel {kernel}, got shape {data.shape}",
    )
    channels = data.shape[1]
    divides(channels, a.num_group, "data")
    divides(a.num_filter, a.num_group, "num_filter")
    inner = -1 if channels == -1 else channels // a.num_group
    weight.fill("weight", (a.num_filter, inner, *kernel))
    spatial = []
    for n, r, s, p in zip(data.shape[2:], reach(kernel, dilate), stride, pad, strict=True):
        require(n == -1 or r <= n + 2 * p, f"kernel: size {r} exceeds the padded input {n + 2 * p}")
        spatial.append(-1 if n == -1 else (n + 2 * p - r) // s + 1)
    return (data.shape[0], a.num_filter, *spatial), dtype


def conv_attrs(a):
    """Return the attributes shared by a convolution and its transposes."""
    kernel, stride, dilate, pad = resolve(a)
    return {
        "kernel": kernel,
        "stride": stride,
        "dilate": dilate,
        "pad": pad,
        "num_filter": a.num_filter,
        "num_group": a.num_group,
    }


CONV_SAMPLES = (
    sample((2, 3, 5, 6), (4, 3, 3, 3), (4,), kernel=(3, 3), num_filter=4),
    sample(
        (2, 4, 7, 5),
        (6, 2, 3, 2),
        kernel=(3, 2),
        num_filter=6,
        num_group=2,
        stride=(2, 1),
        pad=(1, 2),
        dilate=(2, 1),
        no_bias=True,
    ),
    sample((2, 3, 6, 4), (5, 3, 1, 1), (5,), kernel=(1, 1), num_filter=5),
    sample((2, 4, 5, 5), (4, 1, 3, 3), (4,), kernel=(3, 3), num_filter=4, num_group=4, pad=(1, 1)),
    sample((2, 3, 9), (4, 3, 3), (4,), kernel=(3,), num_filter=4, stride=(2,), pad=(1,)),
    sample((1, 2, 4, 5, 3), (3, 2, 2, 3, 2), (3,), kernel=(2, 3, 2), num_filter=3, pad=(1, 0, 1)),
    # enough channels and windows for the Winograd kernels
    sample(
        (1, 16, 32, 32),
        (16, 16, 3, 3),
        (16,),
        kernel=(3, 3),
        num_filter=16,
        pad=(1, 1),
        dtypes=("float32",),
        tol=4,
    ),
)


@op(
    "Convolution",
    aliases=("_npx_convolution",),
    inputs="data weight bias?",
    numpy=(
        "npx.convolution(data=None, weight=None, bias=None, kernel=None, stride=None, "
        "dilate=None, pad=None, num_filter=1, num_group=1, workspace=1024, no_bias=False, "
        "cudnn_tune=None, cudnn_off=False, layout=None, out=None, name=None)"
    ),
    amp="lp16",
)
class Convolution(Window, Filters):
    """Apply a 1-D, 2-D or 3-D convolution (cross-correlation) with a bank of filters.

    ``out[n, f, x] = bias[f] + sum over c, k of weight[f, c, k] * data[n, c, p]`` with
    ``p = stride * x + dilate * k - pad``.

    Shapes: data (batch, channel, spatial...) with one to three spatial dimensions, weight
    (num_filter, channel / num_group, kernel...), bias (num_filter,). Each spatial extent becomes
    ``floor((x + 2 * pad - dilate * (kernel - 1) - 1) / stride) + 1``.
    `workspace` and the `cudnn_*` parameters are ignored on CPU.
    """

    workspace: ULong = 1024
    no_bias: Bool = False
    cudnn_tune: Enum(None, "fastest", "limited_workspace", "off") = None
    cudnn_off: Bool = False
    layout: Enum(None, "NCDHW", "NCHW", "NCW", "NDHWC", "NHWC") = None

    dtypes = ("float32", "float64", "float16", "bfloat16")
    samples = CONV_SAMPLES
    kernels = conv_kernels("", lambda ins, outs: (ins[0], ins[1], outs[0]))

    def infer(a, data, weight, bias=None):
        shape, dtype = conv_shapes(a, data, weight)
        if bias is not None:
            bias.fill("bias", data.shape and (a.num_filter,), dtype)
        return Spec(shape, dtype)

    layer = Layer("_sg_onednn_conv", FUSED_ATTRS, "conv", bfloat16=True)
    quantized = Quantized(
        "_contrib_quantized_conv", must=True, ranged=("data", "weight", "bias"), wide=True
    )

    def infer_back(a, ins, outs):
        """With stride 1, the data's extents follow from the output's."""
        back_batch(a, ins, outs)
        data, out = ins[0].shape, outs[0].shape
        if data is None or out is None:
            return
        kernel, stride, dilate, pad = resolve(a)
        axes = zip(out[2:], reach(kernel, dilate), stride, pad, strict=True)
        spatial = [n + r - 1 - 2 * p if n != -1 and s == 1 else -1 for n, r, s, p in axes]
        ins[0].fill("data", (-1, -1, *spatial))

    def grad(a, F, g, data, weight, needs):
        shared = conv_attrs(a)
        spatial = data.shape[2:]
        by_data = F._conv_data(g, weight, spatial=spatial, **shared) if needs[0] else None
        by_weight = F._conv_weight(data, g, **shared) if needs[1] else None
        by_bias = None
        if len(needs) > 2 and needs[2]:
            by_bias = F.sum(g, axis=1, exclude=True)
        return by_data, by_weight, by_bias

    def ref(a, xp, data, weight, bias=None):
        out = forward_ref(a, xp, data, weight)
        return out if bias is None else out + bias.reshape(-1, *[1] * len(a.kernel))
