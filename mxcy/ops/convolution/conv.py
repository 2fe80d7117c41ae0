"""Convolution in one, two and three dimensions.

Three bilinear maps that are each other's gradients carry the family: the convolution itself, its
transpose with respect to the data, and its transpose with respect to the weight. A deconvolution
(deconv.py) is the second of them. Shapes are (batch, channel, spatial...); weights
(out, in / groups, kernel...).
"""

import math

from mxcy import env
from mxcy._base.dtypes import HALVES
from mxcy.ops.convolution.windows import padded, reach, windows
from mxcy.ops.core.attrs import Bool, Enum, Shape, UInt, ULong
from mxcy.ops.core.infer import MOST_STEP, Spec, back_batch, most, require, same_dtype, whole_shape
from mxcy.ops.core.layer import Layer
from mxcy.ops.core.params import CONV
from mxcy.ops.core.quantized import Quantized
from mxcy.ops.core.record import native, op, sample

__all__ = [
    "CONV_SAMPLES",
    "FUSED_ATTRS",
    "conv_kernels",
    "conv_shapes",
    "data_ref",
    "divides",
    "forward_ref",
    "resolve",
]

#: the attributes that convolutions share with the fused operators; see `Layer`
FUSED_ATTRS = ("kernel", "stride", "dilate", "pad", "num_filter", "num_group", "no_bias")

_LAYOUTS = {1: "NCW", 2: "NCHW", 3: "NCDHW"}


def resolve(a):
    """Kernel, stride, dilate and pad of convolution attributes, all of the kernel's length."""
    n = len(a.kernel)
    require(1 <= n <= 3, f"kernel: expected 1 to 3 dimensions, got {a.kernel}")
    resolved = [a.kernel]
    for name, value, default in (
        ("stride", a.stride, 1),
        ("dilate", a.dilate, 1),
        ("pad", a.pad, 0),
    ):
        value = value or (default,) * n
        require(
            len(value) == n, f"{name}: expected {n} values as in kernel {a.kernel}, got {value}"
        )
        require(min(value) >= default, f"{name}: values must be at least {default}, got {value}")
        most(max(value), MOST_STEP, name)
        resolved.append(value)
    require(min(a.kernel) >= 1, f"kernel: values must be positive, got {a.kernel}")
    layout = getattr(a, "layout", None)
    require(
        layout in (None, _LAYOUTS[n]),
        f"layout: {layout} is not supported on CPU, use {_LAYOUTS[n]}",
    )
    return resolved


def divides(channels, groups, name):
    """Require that channels, if known, form that many groups."""
    require(groups >= 1, f"num_group: must be positive, got {groups}")
    if channels != -1:
        require(channels % groups == 0, f"{name}: {channels} channels cannot form {groups} groups")


def _grouped(xp, array, groups, axis):
    """`array` with its channel axis split into (groups, channels of a group)."""
    shape = array.shape
    return array.reshape(*shape[:axis], groups, shape[axis] // groups, *shape[axis + 1 :])


def conv_kernels(suffix, roles, pads=None):
    """The native kernels of one of the three maps.

    Parameters
    ----------
    suffix : str
        What the names of the map's kernels end in.
    roles : callable
        ``roles(ins, outs) -> (data, weight, output)``: which arrays play these parts of a
        convolution.
    pads : callable, optional
        ``pads(a, extents of output)`` where the padding is not the attribute's.
    """

    def params(a, ins, outs):
        data, weight, out = roles(ins, outs)
        kernel, stride, dilate, pad = resolve(a)
        if pads is not None:
            pad = pads(a, out.shape[2:])
        ones = (1,) * (3 - len(kernel))
        return {
            "batch": data.shape[0],
            "groups": a.num_group,
            "channels": weight.shape[1],
            "filters": weight.shape[0] // a.num_group,
            "source": ones + data.shape[2:],
            "target": ones + out.shape[2:],
            "kernel": ones + tuple(kernel),
            "stride": ones + tuple(stride),
            "dilate": ones + tuple(dilate),
            "pad": (0,) * len(ones) + tuple(pad),
        }

    def work(a, ins, outs):
        # A vector's worth of multiply-adds is one elementwise step.
        _, weight, out = roles(ins, outs)
        positions = math.prod(out.shape[2:]) * out.shape[0]
        return positions * weight.size // 16 + max(spec.size for spec in (*ins, *outs))

    def not_depthwise(a, ins, outs):
        _, weight, _ = roles(ins, outs)
        few = weight.shape[1] == 1 and weight.shape[0] <= 4 * a.num_group
        return None if few else "a group has several channels or many filters"

    def slower(a, ins, outs):
        # Where reordering to and from oneDNN's layouts eats up what they gain, as measured.
        data, weight, _ = roles(ins, outs)
        if suffix == "_weight" and env.get("MXNET_ENFORCE_DETERMINISM"):
            return "its sums depend on the number of threads"
        if ins[0].dtype in HALVES:
            return None
        if math.prod(weight.shape[2:]) == 1:
            return "a pointwise convolution is a plain product"
        if weight.shape[1] == 1 and a.kernel in ((3, 3), (5, 5)):
            return "a depthwise convolution is made in one pass over memory"
        if suffix == "_data" and data.shape[1] < 8:
            return "too few channels for oneDNN's layouts"
        if suffix == "_weight" and weight.size > 2 * data.size:
            return "more weights than data"
        return None

    def not_for_winograd(a, ins, outs):
        data, weight, out = roles(ins, outs)
        if not env.get("MXNET_CUDNN_ALLOW_WINOGRAD"):
            return "MXNET_CUDNN_ALLOW_WINOGRAD=0"
        if max(weight.shape[2:]) > 3:
            # It would lose a digit more than the original does, and training sums that up.
            return "the kernel is longer than 3"
        if min(weight.shape[:2]) < 16:
            return "too few channels to fill vectors"
        # Transforming the weights pays when many windows use them, as measured; sums of their
        # gradients are transformed back but once.
        least = 64 if suffix == "_weight" else 256
        if data.shape[0] * math.prod(out.shape[2:]) < least:
            return "too few windows"
        return None

    winograd = native(
        f"conv_winograd{suffix or '_plain'}",
        struct=CONV,
        params=params,
        work=work,
        when=not_for_winograd,
        asks=True,
    )
    return (
        winograd,
        native(
            f"conv_onednn{suffix or '_plain'}",
            struct=CONV,
            params=params,
            work=work,
            when=slower,
            asks=True,
        ),
        native(
            f"conv_depthwise{suffix}", struct=CONV, params=params, work=work, when=not_depthwise
        ),
        native(f"conv_im2col{suffix}", struct=CONV, params=params, work=work),
    )


def forward_ref(a, xp, data, weight):
    """The convolution (cross-correlation), one kernel position at a time."""
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
    """The transpose with respect to the data, which has the given spatial extents."""
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
    """The transpose with respect to the weight."""
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
    """Fill in the weight and return the output's shape and dtype."""
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
        require(
            n == -1 or r <= n + 2 * p, f"kernel: extent {r} exceeds the padded input {n + 2 * p}"
        )
        spatial.append(-1 if n == -1 else (n + 2 * p - r) // s + 1)
    return (data.shape[0], a.num_filter, *spatial), dtype


def _conv_attrs(a):
    """The attributes that the transposed maps share with a convolution."""
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
    # enough channels and windows for Winograd's kernels
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
class Convolution:
    """Convolve the data with a bank of filters (as neural networks do: cross-correlation).

    ``out[n, f, x] = bias[f] + sum over c, k of weight[f, c, k] * data[n, c, p]`` with
    ``p = stride * x + dilate * k - pad``.

    Shapes: data (batch, channel, spatial...) with one to three spatial dimensions, weight
    (num_filter, channel / num_group, kernel...), bias (num_filter,). Each spatial extent becomes
    ``floor((x + 2 * pad - dilate * (kernel - 1) - 1) / stride) + 1``.
    `workspace` and the `cudnn_*` parameters are accepted and change nothing on CPU.
    """

    kernel: Shape
    stride: Shape = ()
    dilate: Shape = ()
    pad: Shape = ()
    num_filter: UInt
    num_group: UInt = 1
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
        """With a stride of 1 the output's extents tell those of the data."""
        back_batch(a, ins, outs)
        data, out = ins[0].shape, outs[0].shape
        if data is None or out is None:
            return
        kernel, stride, dilate, pad = resolve(a)
        axes = zip(out[2:], reach(kernel, dilate), stride, pad, strict=True)
        spatial = [n + r - 1 - 2 * p if n != -1 and s == 1 else -1 for n, r, s, p in axes]
        ins[0].fill("data", (-1, -1, *spatial))

    def grad(a, F, g, data, weight, needs):
        shared = _conv_attrs(a)
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


@op("_conv_data", inputs="grad weight")
class _ConvData:
    """The transpose of a convolution with respect to its data, of spatial extents `spatial`."""

    kernel: Shape
    stride: Shape = ()
    dilate: Shape = ()
    pad: Shape = ()
    num_filter: UInt
    num_group: UInt = 1
    spatial: Shape

    samples = (
        sample((2, 4, 3, 4), (4, 3, 3, 3), kernel=(3, 3), num_filter=4, spatial=(5, 6)),
        sample(
            (2, 6, 3, 8),
            (6, 2, 3, 2),
            kernel=(3, 2),
            num_filter=6,
            num_group=2,
            stride=(2, 1),
            pad=(1, 2),
            dilate=(2, 1),
            spatial=(7, 5),
        ),
        sample(
            (2, 4, 5), (4, 3, 3), kernel=(3,), num_filter=4, stride=(2,), pad=(1,), spatial=(9,)
        ),
        sample(
            (2, 4, 5, 5),
            (4, 1, 3, 3),
            kernel=(3, 3),
            num_filter=4,
            num_group=4,
            pad=(1, 1),
            spatial=(5, 5),
        ),
        sample(
            (1, 16, 32, 32),
            (16, 16, 3, 3),
            kernel=(3, 3),
            num_filter=16,
            pad=(1, 1),
            spatial=(32, 32),
            dtypes=("float32",),
            tol=4,
        ),
    )

    kernels = conv_kernels("_data", lambda ins, outs: (outs[0], ins[1], ins[0]))

    def infer(a, grad, weight):
        dtype = same_dtype((grad, weight), ("grad", "weight"))
        if grad.shape is None or weight.shape is None:
            return Spec(None, dtype)
        require(grad.ndim > 1 and weight.ndim > 1, f"grad {grad}, weight {weight}: too few axes")
        channels = weight.shape[1] * a.num_group if weight.shape[1] != -1 else -1
        data = Spec((grad.shape[0], channels, *whole_shape(a.spatial, "spatial")), dtype)
        grad.fill("grad", conv_shapes(a, data, weight)[0])
        return data

    def grad(a, F, g, grad, weight):
        shared = _conv_attrs(a)
        return F.Convolution(g, weight, no_bias=True, **shared), F._conv_weight(g, grad, **shared)

    def ref(a, xp, grad, weight):
        return data_ref(a, xp, grad, weight, a.spatial)


@op("_conv_weight", inputs="data grad")
class _ConvWeight:
    """The transpose of a convolution with respect to its weight."""

    kernel: Shape
    stride: Shape = ()
    dilate: Shape = ()
    pad: Shape = ()
    num_filter: UInt
    num_group: UInt = 1

    samples = (
        sample((2, 3, 5, 6), (2, 4, 3, 4), kernel=(3, 3), num_filter=4),
        sample(
            (2, 4, 7, 5),
            (2, 6, 3, 8),
            kernel=(3, 2),
            num_filter=6,
            num_group=2,
            stride=(2, 1),
            pad=(1, 2),
            dilate=(2, 1),
        ),
        sample((2, 3, 9), (2, 4, 5), kernel=(3,), num_filter=4, stride=(2,), pad=(1,)),
        sample((2, 4, 5, 5), (2, 4, 5, 5), kernel=(3, 3), num_filter=4, num_group=4, pad=(1, 1)),
        sample(
            (2, 16, 9, 7),
            (2, 18, 9, 7),
            kernel=(3, 3),
            num_filter=18,
            pad=(1, 1),
            dtypes=("float32",),
            tol=4,
        ),
    )

    kernels = conv_kernels("_weight", lambda ins, outs: (ins[0], outs[0], ins[1]))

    def infer(a, data, grad):
        dtype = same_dtype((data, grad), ("data", "grad"))
        if data.shape is None:
            return Spec(None, dtype)
        weight = Spec(dtype=dtype)
        grad.fill("grad", conv_shapes(a, data, weight)[0])
        return weight

    def grad(a, F, g, data, grad):
        shared = _conv_attrs(a)
        by_data = F._conv_data(grad, g, spatial=data.shape[2:], **shared)
        return by_data, F.Convolution(data, g, no_bias=True, **shared)

    def ref(a, xp, data, grad):
        return weight_ref(a, xp, data, grad)
