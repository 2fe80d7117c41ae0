"""Convolutions, pooling, dense layers and upsampling."""

import math

import numpy as np

from mxcy.onnx.mx2onnx.registry import convert
from mxcy.ops.convolution.deconv import resolve_deconv
from mxcy.ops.convolution.windows import resolve as resolve_conv
from mxcy.ops.pooling.pool import resolve as resolve_pool

__all__ = []


def _last(layout):
    return layout is not None and layout.endswith("C")


def _first(G, x, layout):
    """Move channels to axis 1, as in ONNX."""
    return G.transpose(x, (0, x.ndim - 1, *range(1, x.ndim - 1))) if _last(layout) else x


def _back(G, x, layout):
    return G.transpose(x, (0, *range(2, x.ndim), 1)) if _last(layout) else x


def _inner_shape(G, layout):
    """Shape of the result with channels in axis 1."""
    shape = G.out.shape
    return (shape[0], shape[-1], *shape[1:-1]) if _last(layout) else shape


@convert("Convolution", "Convolution_v1")
def convolution(a, G, x, weight, bias=None):
    """Convert to Conv."""
    kernel, stride, dilate, pad = resolve_conv(a)
    return G.Conv(
        x,
        weight,
        bias,
        kernel_shape=kernel,
        strides=stride,
        dilations=dilate,
        pads=(*pad, *pad),
        group=a.num_group,
    )


@convert("Deconvolution")
def deconvolution(a, G, x, weight, bias=None):
    """A target shape determines the padding; odd padding has one more at the start."""
    kernel, stride, dilate, pad = resolve_conv(a)
    options = {"pads": (*pad, *pad), "output_padding": a.adj or None}
    if a.target_shape and any(a.target_shape):
        if -1 in x.shape[2:]:
            G.unsupported("target_shape with free spatial extents")
        pad, out = resolve_deconv(a, x.shape[2:])
        full_sizes = [
            s * (n - 1) + (k - 1) * d + 1
            for n, s, k, d in zip(x.shape[2:], stride, kernel, dilate, strict=True)
        ]
        ends = [w - p - o for w, p, o in zip(full_sizes, pad, out, strict=True)]
        options = {
            "pads": (*pad, *(max(end, 0) for end in ends)),
            "output_padding": [max(-end, 0) for end in ends],
        }
    return G.ConvTranspose(
        x,
        weight,
        bias,
        kernel_shape=kernel,
        strides=stride,
        dilations=dilate,
        group=a.num_group,
        **options,
    )


@convert("FullyConnected")
def fully_connected(a, G, x, weight, bias=None):
    """Convert to Gemm; without flattening to a product over the last axis."""
    if a.flatten and x.ndim != 2:
        depth = math.prod(x.shape[1:])
        columns = depth if -1 not in x.shape[1:] else -1
        x = G.op("Flatten", x, axis=1, shape=(x.shape[0] if x.ndim else 1, columns))
    if x.ndim == 2:
        return G.Gemm(x, weight, bias, transB=1)
    product = G.MatMul(x, G.transpose(weight, (1, 0)))
    return product if bias is None else G.Add(product, bias)


# --- pooling -------------------------------------------------------------------------------------


@convert("Pooling_v1")
def pooling_v1(a, G, x):
    """Padding counts as zeros, and averages divide by the kernel size."""
    n = x.ndim - 2
    if a.global_pool:
        return _global(a, G, x)
    pad, stride = tuple(a.pad or (0,) * n), a.stride or (1,) * n
    if -1 in x.shape[2:]:
        G.unsupported("free spatial extents")
    ends = [
        max((o - 1) * s + k - size - p, p)
        for o, s, k, size, p in zip(
            G.out.shape[2:], stride, a.kernel, x.shape[2:], pad, strict=True
        )
    ]
    x = G.pad(x, (0, 0, *pad), (0, 0, *ends))
    kind = "MaxPool" if a.pool_type == "max" else "AveragePool"
    pooled = G.op(kind, x, kernel_shape=a.kernel, strides=stride)
    return pooled * float(math.prod(a.kernel)) if a.pool_type == "sum" else pooled


@convert("Pooling")
def pooling(a, G, x):
    """All types and conventions, with explicit padding where ONNX differs."""
    layout = a.layout
    x = _first(G, x, layout)
    pooled = _global(a, G, x) if a.global_pool else _windows(a, G, x)
    pooled.shape = _inner_shape(G, layout)
    return _back(G, pooled, layout)


def _root(a, G, powers):
    """Signed p-th root of sums of p-th powers."""
    return (
        powers
        if a.p_value == 1
        else G.Sign(powers) * G.Pow(G.Abs(powers), G.like(powers, 1 / a.p_value))
    )


def _global(a, G, x):
    axes = tuple(range(2, x.ndim))
    if a.pool_type == "sum":
        return G.reduce("Sum", x, axes, True)
    if a.pool_type == "lp":
        if a.p_value == 2:
            return G.GlobalLpPool(x, p=2)
        return _root(a, G, G.reduce("Sum", _power(a, G, x), axes, True))
    return G.op("GlobalMaxPool" if a.pool_type == "max" else "GlobalAveragePool", x)


def _power(a, G, x):
    return x if a.p_value == 1 else G.Pow(x, G.like(x, a.p_value))


def _windows(a, G, x):
    n = x.ndim - 2
    kernel, stride = a.kernel, a.stride or (1,) * n
    pad = tuple(a.pad or (0,) * n)
    free = -1 in x.shape[2:]
    beyond = (0,) * n  # how far the last windows extend beyond the padding
    if not free:
        out = resolve_pool(a, x.shape[2:])[3]
        beyond = tuple(
            (o - 1) * s + k - size - 2 * p
            for o, s, k, size, p in zip(out, stride, kernel, x.shape[2:], pad, strict=True)
        )
        beyond = tuple(max(extra, 0) for extra in beyond)
    elif a.pooling_convention == "same":
        G.unsupported("pooling_convention='same' with free spatial extents")
    options = {"kernel_shape": kernel, "strides": stride}
    if free and a.pooling_convention == "full":
        return _full(a, G, x, pad, options)
    if a.pool_type == "max":
        return _max(G, x, pad, beyond, options)
    if a.pool_type == "lp":
        x = _power(a, G, x)
    counts = a.count_include_pad is not False
    sums = a.pool_type in ("sum", "lp")
    if sums or (counts and any(beyond)):
        ends = [p + (extra if sums else 0) for p, extra in zip(pad, beyond, strict=True)]
        if any(pad) or any(ends):
            x = G.pad(x, (0, 0, *pad), (0, 0, *ends))
        pads = (0,) * n + ((0,) * n if sums else beyond)
        pooled = G.AveragePool(x, pads=pads, count_include_pad=0, **options)
    else:
        ends = [p + extra for p, extra in zip(pad, beyond, strict=True)]
        if any(end >= k for end, k in zip(ends, kernel, strict=True)):
            return _uncounted(G, x, pad, ends, options)
        counted = int(counts and any(pad))
        pooled = G.AveragePool(x, pads=(*pad, *ends), count_include_pad=counted, **options)
    if not sums:
        return pooled
    pooled = pooled * math.prod(kernel)
    return _root(a, G, pooled) if a.pool_type == "lp" else pooled


def _uncounted(G, x, pad, ends, window):
    """Averages excluding padding: sums divided by counts."""
    padded = G.pad(x, (0, 0, *pad), (0, 0, *ends))
    ones = G.const(np.ones((1, 1, *x.shape[2:]), x.dtype))
    counts = G.AveragePool(G.pad(ones, (0, 0, *pad), (0, 0, *ends)), **window)
    least = 1 / math.prod(window["kernel_shape"])
    return G.Div(G.AveragePool(padded, **window), G.Max(counts, G.like(x, least)))


def _full(a, G, x, pad, window):
    """Windows that extend beyond the padding by an amount only known at run time."""
    if a.pool_type not in ("max", "avg"):
        G.unsupported(f"pool_type={a.pool_type!r} with free spatial extents and 'full'")
    ends = []
    for axis, p in enumerate(pad):
        k, s = window["kernel_shape"][axis], window["strides"][axis]
        span = G.sum_of(G.dim(x, axis + 2), 2 * p - k)
        windows = G.over(G.sum_of(span, s - 1), s)
        ends.append(G.sum_of(G.minus(G.times(windows, s), span), p))
    pads = G.join([0, 0, *pad, 0, 0, *ends])
    if a.pool_type == "max":
        return G.MaxPool(G.op("Pad", x, pads, G.like(x, np.finfo(x.dtype).min)), **window)
    zero = G.like(x, 0)
    ones = G.expand(G.full([1] * x.ndim, 1, x.dtype), [1, 1, *G.dims(x)[2:]])
    if a.count_include_pad is not False and any(pad):
        ones = G.pad(ones, (0, 0, *pad), (0, 0, *pad), number=1)
        margin = G.join(
            [0] * (2 + len(pad))
            + [0, 0, *(G.sum_of(e, -p) for e, p in zip(ends, pad, strict=True))]
        )
        ones = G.op("Pad", ones, margin, zero)
    else:
        ones = G.op("Pad", ones, pads, zero)
    sums = G.AveragePool(G.op("Pad", x, pads, zero), **window)
    return G.Div(sums, G.AveragePool(ones, **window))


def _max(G, x, pad, beyond, window):
    ends = [p + extra for p, extra in zip(pad, beyond, strict=True)]
    if any(end >= k for end, k in zip(ends, window["kernel_shape"], strict=True)):
        x = G.pad(x, (0, 0, *pad), (0, 0, *ends), number=np.finfo(x.dtype).min)
        pad, ends = (0,) * len(pad), (0,) * len(pad)
    return G.MaxPool(x, pads=(*pad, *ends), **window)


@convert("_contrib_AdaptiveAvgPooling2D")
def adaptive_average(a, G, x):
    """Windows of equal size if the extents divide, else a matrix product per axis."""
    size = a.output_size or (1,)
    size = tuple(size) * 2 if len(size) == 1 else tuple(size)
    if size == (1, 1):
        return G.GlobalAveragePool(x)
    extents = x.shape[2:]
    if -1 in extents:
        G.unsupported("free spatial extents with an output_size other than 1")
    if all(n % s == 0 for n, s in zip(extents, size, strict=True)):
        kernel = [n // s for n, s in zip(extents, size, strict=True)]
        return G.AveragePool(x, kernel_shape=kernel, strides=kernel)
    rows, columns = (_average_matrix(n, s, x.dtype) for n, s in zip(extents, size, strict=True))
    return G.MatMul(G.MatMul(G.const(rows), x), G.const(columns.T.copy()))


def _average_matrix(extent, size, dtype):
    """Averaging matrix of an axis: row i averages the elements of the i-th window."""
    matrix = np.zeros((size, extent), dtype)
    for i in range(size):
        begin, end = i * extent // size, -(-(i + 1) * extent // size)
        matrix[i, begin:end] = 1 / (end - begin)
    return matrix


# --- upsampling ----------------------------------------------------------------------------------


@convert("UpSampling")
def upsampling(a, G, *values):
    """Repeat pixels, or convolve with the bilinear kernel."""
    if a.sample_type == "bilinear":
        return _upsample_bilinear(a, G, *values)
    first, enlarged = values[0], []
    for x in values:
        scale = a.scale
        if x is not first:
            target, own = first.shape[2] * a.scale, x.shape[2]
            if -1 in (first.shape[2], own):
                G.unsupported("several inputs with free spatial extents")
            scale = target // own
        scales = np.array([1, 1, scale, scale], np.float32)
        enlarged.append(
            G.resize(
                x,
                scales=scales,
                coordinate_transformation_mode="asymmetric",
                mode="nearest",
                nearest_mode="floor",
            )
        )
        enlarged[-1].shape = (*x.shape[:2], *(-1 if n == -1 else n * scale for n in x.shape[2:]))
    if a.multi_input_mode == "sum" and len(enlarged) > 1:
        return G.op("Sum", *enlarged)
    return G.concat(enlarged, 1)


def _upsample_bilinear(a, G, x, weight):
    if x.shape[1] == -1:
        G.unsupported("a free number of channels")
    scale = a.scale
    kernel = 2 * scale - scale % 2
    pad = math.ceil((scale - 1) / 2)
    return G.ConvTranspose(
        x,
        weight,
        kernel_shape=(kernel, kernel),
        strides=(scale, scale),
        pads=(pad,) * 4,
        group=x.shape[1],
    )


@convert("_contrib_BilinearResize2D")
def bilinear_resize(a, G, x, like=None):
    """Resize to a size that is known or follows from the input's."""
    mode = "align_corners" if a.align_corners else "half_pixel"
    options = {"mode": "linear", "coordinate_transformation_mode": mode}
    height, width = G.out.shape[2:]
    if -1 in (height, width):
        if a.mode == "like" and like is not None:
            sizes = G.join([*G.dims(x)[:2], *G.dims(like)[2:]])
            return G.resize(x, sizes, **options)
        if a.scale_height is None or a.mode != "size":
            G.unsupported(f"mode={a.mode!r} with free spatial extents")
        scales = np.array([1, 1, a.scale_height, a.scale_width], np.float32)
        return G.resize(x, scales=scales, **options)
    sizes = G.join([*G.dims(x)[:2], height, width])
    return G.resize(x, sizes, **options)
