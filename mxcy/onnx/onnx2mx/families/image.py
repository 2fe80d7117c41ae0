"""Resizing and grid sampling of images."""

import itertools
import math

import numpy as np

from mxcy.base import MXNetError
from mxcy.onnx.onnx2mx.families.open_sizes import resized_axis, scaled
from mxcy.onnx.onnx2mx.families.resampling import positions, weights
from mxcy.onnx.onnx2mx.table import row

__all__ = []


class _How:
    """Attributes of a resize operator, including those of older opsets."""

    def __init__(self, a, mode, coordinates, nearest):
        self.mode, self.coordinates, self.nearest = mode, coordinates, nearest
        self.cubic = -0.75 if a.cubic_coeff_a is None else a.cubic_coeff_a
        self.exclude_outside = bool(a.exclude_outside)
        self.antialias = bool(a.antialias)
        self.outside = 0.0 if a.extrapolation_value is None else a.extrapolation_value


def _resized(F, x, sizes, scales, how, roi=None):
    """Resize each axis separately, by gathering or by a product with the weight matrix."""
    extents, around = x.shape, None
    named = F.extents(x)
    if _upsamples(x, sizes, scales, how):
        scale = int(scales[2])
        return F("UpSampling", x, scale=scale, sample_type="nearest")
    for axis, (n, size, scale) in enumerate(zip(extents, sizes, scales, strict=True)):
        cropped = how.coordinates == "tf_crop_and_resize"
        if n == -1 and cropped:
            x.full_shape  # noqa: B018  raises
        if size == named[axis] and not cropped:
            continue
        if isinstance(size, str) or n == -1:
            x = resized_axis(F, x, axis, size, named[axis], scale, how)
            continue
        if size == n and scale == 1 and not cropped:
            continue
        region = (0.0, 1.0) if roi is None else (roi[axis], roi[axis + len(extents)])
        where = positions(how.coordinates, size, n, scale, region)
        if cropped:
            outside = (where < 0) | (where > n - 1)
            shape = [1] * len(extents)
            shape[axis] = size
            outside = outside.reshape(shape)
            around = outside if around is None else around | outside
        if how.mode == "nearest":
            x = F("take", x, F.constant(_nearest(where, n, how)), axis=axis, mode="clip")
        else:
            x = _product(F, x, axis, weights(where, n, scale, how))
    if around is not None and around.any():
        x = F.where(F.constant(around), F.like(how.outside, x), x)
    return x


def _upsamples(x, sizes, scales, how):
    return (
        how.mode == "nearest"
        and how.coordinates == "asymmetric"
        and how.nearest == "floor"
        and x.ndim == 4
        and x.kind == "f"
        and scales[0] == scales[1] == 1
        and None not in scales
        and scales[2] == scales[3] == int(scales[2]) > 1
        and all(
            n == -1 or size == n * int(scale)
            for size, n, scale in zip(sizes, x.shape, scales, strict=True)
        )
    )


def _nearest(where, n, how):
    rounded = {
        "round_prefer_floor": lambda p: np.ceil(p - 0.5),
        "round_prefer_ceil": lambda p: np.floor(p + 0.5),
        "floor": np.floor,
        "ceil": np.ceil,
    }
    if how.nearest not in rounded:
        raise MXNetError(f"attribute nearest_mode: {how.nearest!r} is not known")
    return np.clip(rounded[how.nearest](where), 0, n - 1).astype(np.int64)


def _product(F, x, axis, matrix):
    last = x.ndim - 1
    order = [i for i in range(x.ndim) if i != axis] + [axis]
    rows = x if axis == last else x.transpose(*order)
    floats = rows if rows.kind == "f" else rows.astype("float32")
    result = F("_npi_matmul", floats, F.constant(matrix.T.astype(floats.dtype)))
    if rows.kind != "f":
        ends = np.iinfo(rows.dtype)
        result = F("clip", F("_npi_rint", result), a_min=ends.min, a_max=ends.max)
        result = result.astype(rows.dtype)
    back = [order.index(i) for i in range(x.ndim)]
    return result if axis == last else result.transpose(*back)


def _sizes(F, a, x, scales, sizes):
    """Return (sizes, scales) of all axes."""
    extents = F.extents(x)
    axes = [axis % x.ndim for axis in a.axes] if a.axes else list(range(x.ndim))
    resized, ratios = list(extents), [1.0] * x.ndim
    if sizes is not None and sizes.full_shape != (0,):
        wanted = dict(zip(axes, sizes.integers_or_names("the input sizes"), strict=True))
        policy = a.keep_aspect_ratio_policy or "stretch"
        if policy != "stretch":
            extents = x.full_shape
            choose = min if policy == "not_larger" else max
            ratio = choose(size / extents[axis] for axis, size in wanted.items())
            wanted = {axis: math.floor(ratio * extents[axis] + 0.5) for axis in wanted}
        for axis, size in wanted.items():
            resized[axis] = size
            if policy != "stretch":
                ratios[axis] = ratio
            elif isinstance(size, str) or isinstance(extents[axis], str):
                ratios[axis] = 1.0 if size == extents[axis] else None
            else:
                ratios[axis] = size / extents[axis]
    else:
        numbers = scales.numbers("the input scales").reshape(-1).tolist()
        for axis, ratio in zip(axes, numbers, strict=True):
            if not isinstance(extents[axis], str):
                resized[axis] = math.floor(extents[axis] * ratio)
            elif ratio != 1:
                resized[axis] = scaled(F, extents[axis], ratio)
            ratios[axis] = ratio
    if any(
        not isinstance(n, str) and n <= 0 and n != old
        for n, old in zip(resized, extents, strict=True)
    ):
        raise MXNetError(f"cannot resize {extents} to {tuple(resized)}")
    return resized, ratios


@row("Resize", since=10)
def resize_by_scales(F, a, x, scales):
    # Coordinates were unspecified before opset 11; use those of Upsample.
    how = _How(a, a.mode, "asymmetric", "floor")
    return _resized(F, x, *_sizes(F, a, x, scales, None), how)


@row("Resize", since=11)
def resize(F, a, x, roi=None, scales=None, sizes=None):
    how = _How(a, a.mode, a.coordinate_transformation_mode, a.nearest_mode)
    resized, ratios = _sizes(F, a, x, scales, sizes)
    region = None
    if how.coordinates == "tf_crop_and_resize":
        numbers = roi.numbers("the input roi").reshape(-1).astype(float).tolist()
        axes = [axis % x.ndim for axis in a.axes] if a.axes else range(x.ndim)
        region = [0.0] * x.ndim + [1.0] * x.ndim
        for place, axis in enumerate(axes):
            region[axis] = numbers[place]
            region[axis + x.ndim] = numbers[place + len(axes)]
        axes = set(axes)
    return _resized(F, x, resized, ratios, how, region)


@row("Upsample", since=7)
def upsample_by_attribute(F, a, x):
    how = _How(a, a.mode, "asymmetric", "floor")
    scales = F.constant(np.array(a.scales))
    return _resized(F, x, *_sizes(F, a, x, scales, None), how)


@row("Upsample", since=9)
def upsample(F, a, x, scales):
    return resize_by_scales(F, a, x, scales)


# --- grid sampling -------------------------------------------------------------------------------


def _pixel(F, x, coordinates, sizes, padding, align):
    """Pixels at integer positions (last axis of each coordinate: points), with padding."""
    batch, channels = x.full_shape[:2]
    inside, flat = None, None
    for place, n in zip(coordinates, sizes, strict=True):
        if padding == "zeros":
            fits = F("_npi_logical_and", F("_npi_greater_equal", place, F.like(0, place)),
                     F("_npi_less_equal", place, F.like(n - 1, place)))  # fmt: skip
            inside = fits if inside is None else F("_npi_logical_and", inside, fits)
        elif padding == "reflection":
            place = _reflected(F, place, n, align)
        place = F("clip", place, a_min=0, a_max=n - 1)
        flat = place if flat is None else flat * float(n) + place
    points = flat.full_shape[1]
    places = flat.astype("int64").reshape(batch, 1, points)
    places = F("_npi_broadcast_to", places, shape=(batch, channels, points))
    pixels = x.reshape(batch, channels, math.prod(sizes))
    pixel = F("_take_along", pixels, places, axis=2, mode="clip", taken=points)
    if inside is None:
        return pixel
    return F.where(inside.reshape(batch, 1, points), pixel, F.like(0, pixel))


def _reflected(F, place, n, align):
    low, high = (0.0, n - 1.0) if align else (-0.5, n - 0.5)
    span = high - low
    if span <= 0:
        return F.binary("multiply", place, 0.0)
    remainder = F("_npi_mod", F("_npi_absolute", place - low), F.like(2 * span, place))
    mirrored = F.where(
        F("_npi_greater", remainder, F.like(span, remainder)), 2 * span - remainder, remainder
    )
    return mirrored + low


def _cubic(F, t):
    """The four weights of a point at distance `t` from the second pixel."""
    A = -0.75

    def near(d):
        return ((d * (A + 2)) - (A + 3)) * d * d + 1.0

    def far(d):
        return ((d * A - 5 * A) * d + 8 * A) * d - 4 * A

    return far(t + 1.0), near(t), near(1 - t), far(2 - t)


@row("GridSample", since=16)
def grid_sample(F, a, x, grid):
    mode = {"bilinear": "linear", "bicubic": "cubic"}.get(a.mode, a.mode)
    align, padding = bool(a.align_corners), a.padding_mode
    batch, channels, *sizes = x.full_shape
    out = grid.full_shape[1:-1]
    points, dims = math.prod(out), len(sizes)
    if mode == "cubic" and dims != 2:
        raise NotImplementedError("mode cubic in other than two dimensions")
    coordinates = []
    for axis, n in enumerate(sizes):
        last = dims - 1 - axis  # x comes first in the grid
        place = F.part(grid, dims + 1, last, last + 1)
        place = place.reshape(batch, points)
        place = (place + 1.0) * ((n - 1) / 2) if align else ((place + 1.0) * n - 1.0) / 2
        if padding == "border" and mode != "cubic":
            place = F("clip", place, a_min=0, a_max=n - 1)
        elif padding == "reflection" and mode != "cubic":
            place = F("clip", _reflected(F, place, n, align), a_min=0, a_max=n - 1)
        coordinates.append(place)
    if mode == "nearest":
        corner = [F("_npi_rint", place) for place in coordinates]
        pixel = _pixel(F, x, corner, sizes, padding, align)
        return pixel.reshape(batch, channels, *out)
    floors = [F("_npi_floor", place) for place in coordinates]
    rests = [place - floor for place, floor in zip(coordinates, floors, strict=True)]
    if mode == "cubic":
        sides = [_cubic(F, fraction) for fraction in rests]
        steps = (-1, 0, 1, 2)
    else:
        sides, steps = [(1 - fraction, fraction) for fraction in rests], (0, 1)
    total = None
    for choice in itertools.product(range(len(steps)), repeat=dims):
        corner = [floor + float(steps[i]) for floor, i in zip(floors, choice, strict=True)]
        weight = None
        for side, i in zip(sides, choice, strict=True):
            weight = side[i] if weight is None else weight * side[i]
        part = _pixel(F, x, corner, sizes, padding, align)
        part = part * weight.reshape(batch, 1, points)
        total = part if total is None else total + part
    return total.reshape(batch, channels, *out)
