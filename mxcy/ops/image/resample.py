"""Image resampling: bilinear interpolation and adaptive average pooling.

Both are linear and separable: ``rows @ image @ columns.T`` with one matrix per direction. The
gradient uses both transposed.
"""

import math

from mxcy.ops.core.attrs import Bool, Enum, FloatOrNone, Int, Shape
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.params import RESAMPLE
from mxcy.ops.core.record import native, op, sample
from mxcy.ops.norm.batch import require_float

__all__ = []

_Kind = Enum("aligned", "half_pixel", "average")


def _interpolation(xp, source, target, aligned):
    """Return the matrix (target, source) of linear interpolation."""
    if aligned:  # first and last points coincide
        places = xp.arange(target) * ((source - 1) / (target - 1) if target > 1 else 0.0)
    else:  # pixel areas coincide
        places = xp.maximum((xp.arange(target) + 0.5) * (source / target) - 0.5, 0)
    low = xp.minimum(xp.floor(places).astype("int64"), source - 1)
    high = xp.minimum(low + 1, source - 1)
    matrix = xp.zeros((target, source))
    matrix[xp.arange(target), low] += 1 - (places - low)
    matrix[xp.arange(target), high] += places - low
    return matrix


def _averages(xp, source, target):
    """Return the matrix (target, source) of means over bins that may overlap by one."""
    matrix = xp.zeros((target, source))
    for number in range(target):
        first = number * source // target
        last = -((number + 1) * -source // target)
        matrix[number, first:last] = 1 / (last - first)
    return matrix


def _matrix(xp, kind, source, target):
    if kind == "average":
        return _averages(xp, source, target)
    return _interpolation(xp, source, target, kind == "aligned")


def _kernel(geometry, refuse=None, name="resample"):
    """Return a kernel; ``geometry(a, ins, outs)`` is (source, target, aligned, transposed)."""

    def params(a, ins, outs):
        source, target, aligned, transposed = geometry(a, ins, outs)
        return {
            "planes": math.prod(source.shape[:2]),
            "source": source.shape[2:],
            "target": target.shape[2:],
            "aligned": aligned,
            "transposed": transposed,
        }

    def when(a, ins, outs):
        if 0 in ins[0].shape:
            return "no pixels"
        return refuse(a) if refuse else None

    return native(
        name,
        struct=RESAMPLE,
        params=params,
        when=when,
        work=lambda a, ins, outs: 2 * max(ins[0].size, outs[0].size),
    )


def _roles(a, ins, outs):
    pair = (outs[0], ins[0]) if a.transposed else (ins[0], outs[0])
    return (*pair, a.kind == "aligned", a.transposed)


@op("_resample")
class Resample:
    """Resample images (batch, channels, height, width), or compute the gradient of that.

    `size` is the (height, width) of the result and `source` that of the data; `transposed` swaps
    them, mapping gradients of results to gradients of data.
    """

    kind: _Kind
    size: Shape
    source: Shape
    transposed: Bool = False

    samples = (
        sample((2, 3, 4, 5), kind="aligned", size=(7, 3), source=(4, 5)),
        sample((2, 3, 7, 3), kind="half_pixel", size=(7, 3), source=(4, 5), transposed=True),
        sample((1, 2, 5, 6), kind="average", size=(3, 4), source=(5, 6)),
        sample((2, 3, 9, 40), kind="half_pixel", size=(9, 40), source=(5, 17), transposed=True),
        sample((2, 3, 3, 2), kind="aligned", size=(3, 2), source=(7, 9), transposed=True),
    )

    kernels = (
        _kernel(_roles, lambda a: "averages" if a.kind == "average" else None),
        _kernel(_roles, lambda a: None if a.kind == "average" else "no averages", "average_parts"),
    )

    def infer(a, data):
        require_float(data, "data")
        for name in ("size", "source"):
            extents = getattr(a, name)
            good = extents is not None and len(extents) == 2 and min(extents) > 0
            require(good, f"{name}: expected (height, width), got {extents}")
        data.fill("data", (-1, -1, *(a.size if a.transposed else a.source)))
        target = a.source if a.transposed else a.size
        return Spec((*data.shape[:2], *target), data.dtype)

    def grad(a, F, g):
        return F._resample(
            g, kind=a.kind, size=a.size, source=a.source, transposed=not a.transposed
        )

    def ref(a, xp, data):
        return _resampled(a, xp, data)


def _resampled(a, xp, data):
    dtype = data.dtype if data.dtype == "float64" else "float32"
    rows, columns = (
        _matrix(xp, a.kind, source, target).astype(dtype)
        for source, target in zip(a.source, a.size, strict=True)
    )
    if a.transposed:
        rows, columns = rows.T, columns.T
    resampled = xp.matmul(xp.matmul(rows, data.astype(dtype, copy=False)), columns.T)
    return resampled.astype(data.dtype, copy=False)


def _as_resample(kind, source, size):
    return Resample.schema.intern("_resample", {"kind": kind, "source": source, "size": size})


def _image(data):
    data.fill("data", (-1, -1, -1, -1))
    require_float(data, "data")
    return data.shape


_ROUNDED = {
    "to_even_down": lambda n: n - n % 2,
    "to_even_up": lambda n: n + n % 2,
    "to_odd_down": lambda n: n - 1 + n % 2,
    "to_odd_up": lambda n: n + 1 - n % 2,
}


def _target(a, source, like):
    """Return (height, width) of the result; -1 if unknown."""
    if a.mode == "like":
        return tuple((-1, -1) if like.shape is None else like.shape[2:])
    extents = []
    for extent, wanted, scale, name in zip(
        source,
        (a.height, a.width),
        (a.scale_height, a.scale_width),
        ("height", "width"),
        strict=True,
    ):
        if a.mode == "size" and scale is None:
            require(wanted > 0, f"{name}: expected 1 or more, got {wanted}")
            extents.append(wanted)
        elif extent == -1:
            extents.append(-1)
        elif a.mode in _ROUNDED:
            extents.append(_ROUNDED[a.mode](extent))
        else:
            good = scale is not None and 0 < scale < 1 << 31
            require(good, f"scale_{name}: expected a positive number, got {scale}")
            odd = a.mode == "odd_scale" and extent % 2
            extents.append(int((extent - 1) * scale) + 1 if odd else int(extent * scale))
    return tuple(extents)


@op("_contrib_BilinearResize2D", inputs="data like?")
class BilinearResize2D:
    """Resize images (batch, channels, height, width) by bilinear interpolation.

    `mode` determines the size: ``size`` (`height` and `width`, or scale factors), ``like`` (that of
    the second input), ``odd_scale`` (scaled; odd extents to ``(n - 1) * scale + 1``), or the next
    even or odd number below or above. With `align_corners` the centres of the corner pixels are
    aligned, otherwise the corners of the images.

    Raises
    ------
    MXNetError
        If the size is not positive.
    """

    height: Int = 1
    width: Int = 1
    scale_height: FloatOrNone = None
    scale_width: FloatOrNone = None
    mode: Enum(
        "like", "odd_scale", "size", "to_even_down", "to_even_up", "to_odd_down", "to_odd_up"
    ) = "size"
    align_corners: Bool = True

    samples = (
        sample((2, 3, 4, 5), height=7, width=3),
        sample((1, 2, 5, 4), height=3, width=9, align_corners=False),
        sample((1, 1, 5, 4), scale_height=2.0, scale_width=0.5, mode="odd_scale"),
        sample((1, 2, 4, 4), (1, 1, 6, 3), mode="like"),
        sample((1, 1, 5, 6), mode="to_odd_up"),
        sample((1, 1, 3, 3), height=1, width=1),
        sample((2, 3, 6, 17), height=15, width=40, align_corners=False),
        sample((2, 3, 17, 40), height=5, width=19),
    )

    kernels = (_kernel(lambda a, ins, outs: (ins[0], outs[0], a.align_corners, False)),)

    def arguments(a):
        return ("data", "like") if a.mode == "like" else ("data",)

    def infer(a, data, like=None):
        batch, channels, *source = _image(data)
        if like is not None:
            like.fill("like", (-1, -1, -1, -1))
        return Spec((batch, channels, *_target(a, source, like)), data.dtype)

    def grad(a, F, g, specs):
        kind = "aligned" if a.align_corners else "half_pixel"
        source = tuple(specs[0].shape[2:])
        size = _target(a, source, specs[1] if a.mode == "like" else None)
        gradient = F._resample(g, kind=kind, size=size, source=source, transposed=True)
        return (gradient, None) if a.mode == "like" else gradient

    def ref(a, xp, data, like=None):
        kind = "aligned" if a.align_corners else "half_pixel"
        source = data.shape[2:]
        return _resampled(_as_resample(kind, source, _target(a, source, like)), xp, data)


def _pooled(a, source):
    size = a.output_size or ()
    require(len(size) <= 2, f"output_size: expected at most two integers, got {size}")
    size = {0: (1, 1), 1: size * 2, 2: size}[len(size)]
    require(min(size) > 0, f"output_size: expected positive numbers, got {size}")
    return tuple(size)


@op("_contrib_AdaptiveAvgPooling2D")
class AdaptiveAvgPooling2D:
    """Apply adaptive average pooling to images (batch, channels, height, width).

    `output_size` is () for a global average, an integer, or (height, width).
    """

    output_size: Shape = ()

    kernels = (_kernel(lambda a, ins, outs: (ins[0], outs[0], False, False), name="average_parts"),)
    samples = (
        sample((2, 3, 5, 7)),
        sample((2, 3, 5, 7), output_size=(3,)),
        sample((1, 2, 4, 3), output_size=(2, 5)),
    )

    def infer(a, data):
        batch, channels, *source = _image(data)
        return Spec((batch, channels, *_pooled(a, source)), data.dtype)

    def grad(a, F, g, specs):
        source = tuple(specs[0].shape[2:])
        return F._resample(
            g, kind="average", size=_pooled(a, source), source=source, transposed=True
        )

    def ref(a, xp, data):
        source = data.shape[2:]
        if math.prod(_pooled(a, source)) == 1:
            return data.mean((2, 3), keepdims=True, dtype=_sum_dtype(data)).astype(data.dtype)
        return _resampled(_as_resample("average", source, _pooled(a, source)), xp, data)


def _sum_dtype(data):
    return "float64" if data.dtype == "float64" else "float32"
