"""Pooling of regions of interest (RoIs) to a fixed size.

A region is (image index, left, top, right, bottom); `spatial_scale` maps its corners to pixels of
the data. Definitions: Girshick (2015), Fast R-CNN; He et al. (2017), Mask R-CNN.
"""

import numpy as np

from mxcy.ops.core.attrs import Bool, Field, Float, Int, Shape
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, infer_gradients, most, require, require_plane, same_dtype
from mxcy.ops.core.params import ROI
from mxcy.ops.core.record import native, no_rule, op, register, sample
from mxcy.ops.norm.batch import require_float

__all__ = []


def _regions(count, images):
    """Return a sample input: regions in images of 12 x 12 pixels."""

    def draw(rng):
        low = rng.uniform(0, 6, (count, 2))
        number = rng.integers(0, images, (count, 1))
        return np.concatenate([number, low, low + rng.uniform(1, 6, (count, 2))], axis=1)

    return draw


def _check(a, data, rois):
    dtype = same_dtype((data, rois), ("data", "rois"))
    require_float(data, "data")
    require(
        len(a.pooled_size) == 2 and min(a.pooled_size) > 0,
        f"pooled_size: expected (height, width), got {a.pooled_size}",
    )
    require(
        a.spatial_scale > 0, f"spatial_scale: expected a positive number, got {a.spatial_scale}"
    )
    data.fill("data", (-1, -1, -1, -1))
    require_plane(data)
    rois.fill("rois", (-1, 5))
    return dtype


def _kernel(name, images, result, samples=1):
    """Return a native kernel; `images` and `result` select the Specs of data and result."""

    def params(a, ins, outs):
        data, out = images(ins, outs), result(ins, outs)
        return {
            "images": data.shape[0],
            "regions": out.shape[0],
            "channels": out.shape[1],
            "source": data.shape[2:],
            "pooled": a.pooled_size,
            "scale": a.spatial_scale,
            "samples": max(getattr(a, "sample_ratio", 0), 0),
            "sensitive": getattr(a, "position_sensitive", False),
            "aligned": getattr(a, "aligned", False),
        }

    def work(a, ins, outs):
        return 16 * samples * result(ins, outs).size

    return native(name, struct=ROI, params=params, work=work)


# --- maxima ----------------------------------------------------------------------------------


def _edges(xp, first, last, bins, extent):
    """Return the start and end of the bins of a region from pixel `first` to `last`."""
    size = max(last - first + 1, 1) / bins
    numbers = xp.arange(bins)
    begin = xp.floor(numbers * size).astype("int64") + first
    end = xp.ceil((numbers + 1) * size).astype("int64") + first
    return xp.clip(begin, 0, extent), xp.clip(end, 0, extent)


def _round(x):
    """Round to the nearest integer, halves away from zero."""
    return int(np.floor(abs(x) + 0.5) * np.sign(x))


@op(
    "ROIPooling",
    aliases=("_npx_roi_pooling",),
    inputs="data rois",
    outputs="output maxidx",
    visible=1,
    in_symbols=InSymbols(named=True),
)
class ROIPooling:
    """Pool regions of interest by the maximum over a fixed grid of bins.

    Shapes: data (batch, channels, height, width), rois (n, 5), out (n, channels, *pooled_size). The
    corners are rounded to pixels. Empty bins give 0. The hidden second output holds the positions
    of the maxima in the plane, -1 if there is none.
    """

    pooled_size: Shape
    spatial_scale: Float

    samples = (
        sample((2, 3, 12, 12), _regions(4, 2), pooled_size=(3, 2), spatial_scale=1.0, grad=False),
        sample((1, 2, 6, 6), _regions(3, 1), pooled_size=(2, 2), spatial_scale=0.5, grad=False),
    )

    kernels = (_kernel("roi_pooling", lambda ins, outs: ins[0], lambda ins, outs: outs[0]),)

    def infer(a, data, rois):
        dtype = _check(a, data, rois)
        shape = (rois.shape[0], data.shape[1], *a.pooled_size)
        return Spec(shape, dtype), Spec(shape, dtype)

    def grad(a, F, g, data, rois, maxidx):
        return F._roi_pooling_grad(g[0], rois, maxidx, data), F.zeros_like(rois)

    def ref(a, xp, data, rois):
        shape = (len(rois), data.shape[1], *a.pooled_size)
        out, places = xp.zeros(shape, data.dtype), xp.full(shape, -1, data.dtype)
        height, width = data.shape[2:]
        for number, region in enumerate(rois):
            left, top, right, bottom = (_round(float(x) * a.spatial_scale) for x in region[1:])
            image = data[int(region[0])]
            rows = _edges(xp, top, bottom, a.pooled_size[0], height)
            columns = _edges(xp, left, right, a.pooled_size[1], width)
            for i, (y0, y1) in enumerate(zip(*rows, strict=True)):
                for j, (x0, x1) in enumerate(zip(*columns, strict=True)):
                    if y0 >= y1 or x0 >= x1:
                        continue
                    part = image[:, y0:y1, x0:x1].reshape(len(image), -1)
                    best = part.argmax(1)
                    out[number, :, i, j] = part.max(1)
                    y, x = best // (x1 - x0) + y0, best % (x1 - x0) + x0
                    places[number, :, i, j] = y * width + x
        return out, places


def _roi_pooling_grad(a, xp, grads, rois, places, data):
    out = xp.zeros(data.shape, data.dtype)
    flat = out.reshape(*data.shape[:2], -1)
    channels = xp.arange(data.shape[1])[:, None]
    for region, grad, place in zip(rois, grads, places, strict=True):
        place = place.reshape(len(place), -1).astype("int64")
        grad = xp.where(place >= 0, grad.reshape(len(grad), -1), 0)
        xp.add.at(flat[int(region[0])], (channels, xp.maximum(place, 0)), grad)
    return out


def _infer_pooling_grad(a, grads, rois, places, data):
    same_dtype((data, rois, grads, places), ("data", "rois", "grads", "places"))
    require_float(data, "data")
    data.fill("data", (-1, -1, -1, -1))
    rois.fill("rois", (-1, 5))
    grads.fill("grads", (rois.shape[0], data.shape[1], -1, -1))
    places.fill("places", grads.shape)
    return Spec(data.shape, data.dtype)


_native_pooling_grad = native(
    "roi_pooling_grad",
    struct=ROI,
    params=lambda a, ins, outs: {
        "images": ins[3].shape[0],
        "regions": ins[0].shape[0],
        "channels": ins[0].shape[1],
        "source": ins[3].shape[2:],
        "pooled": ins[0].shape[2:],
        "scale": 1,
        "samples": 0,
        "sensitive": 0,
        "aligned": 0,
    },
)

register(
    "_roi_pooling_grad",
    doc="""Gradient of ROIPooling with respect to its data: routed to the maxima.

Takes the gradient of the output, the regions, the positions of the maxima, and the data.""",
    inputs="grads rois places data",
    ignores=("data",),
    grad=no_rule,
    infer=_infer_pooling_grad,
    ref=_roi_pooling_grad,
    kernels=(_native_pooling_grad,),
    samples=(
        sample(
            (2, 3, 2, 2),
            _regions(2, 2),
            lambda rng: rng.integers(-1, 9, (2, 3, 2, 2)) * 1.0,
            (2, 3, 3, 3),
            grad=False,
        ),
    ),
)


# --- means of interpolated points ------------------------------------------------------------


def _weights(xp, start, length, bins, per_bin, extent):
    """Return the matrix (bins, extent) that averages `per_bin` interpolated points per bin."""
    matrix, size = xp.zeros((bins, extent)), length / bins
    for row, bin in zip(matrix, range(bins), strict=True):
        first, last = 0, per_bin
        if size > 0:  # only points in the image count; there may be very many others
            first, last = (
                int(min(max(((edge - start) / size - bin) * per_bin + more, 0), per_bin))
                for edge, more in ((-1, -1), (extent, 1))
            )
        points = start + (bin + (xp.arange(first, last) + 0.5) / per_bin) * size
        points = xp.clip(points[(points >= -1) & (points <= extent)], 0, extent - 1)
        low = xp.floor(points).astype("int64")
        high = xp.minimum(low + 1, extent - 1)
        part = xp.where(high > low, points - low, 0)
        xp.add.at(row, low, 1 - part)
        xp.add.at(row, high, part)
    return matrix / per_bin


def _region_weights(a, xp, region, extents, dtype):
    """Return the averaging matrices of a region's rows and columns."""
    offset = 0.5 if a.aligned else 0.0
    left, top, right, bottom = (float(x) * a.spatial_scale - offset for x in region[1:])
    weights = []
    for first, last, bins, extent in (
        (top, bottom, a.pooled_size[0], extents[0]),
        (left, right, a.pooled_size[1], extents[1]),
    ):
        length = last - first if a.aligned else max(last - first, 1.0)
        per_bin = a.sample_ratio if a.sample_ratio > 0 else max(int(np.ceil(length / bins)), 1)
        weights.append(_weights(xp, first, length, bins, per_bin, extent).astype(dtype))
    return weights


def _counts(region):
    """Return whether a region is valid: non-negative image index, finite coordinates."""
    return region[0] >= 0 and np.isfinite(region).all()


def _bins_of(xp, a, channels):
    """Return the input channel read for each output channel and bin, (out, h, w)."""
    height, width = a.pooled_size
    bins = xp.arange(height * width).reshape(height, width)
    return xp.arange(channels)[:, None, None] * height * width + bins


_ALIGN = (
    Field("pooled_size", Shape),
    Field("spatial_scale", Float),
    Field("sample_ratio", Int, -1),
    Field("position_sensitive", Bool, False),
    Field("aligned", Bool, False),
)


def _infer_align(a, data, rois):
    dtype = _check(a, data, rois)
    most(a.sample_ratio, 1024, "sample_ratio")
    channels = data.shape[1]
    if a.position_sensitive and channels != -1:
        bins = a.pooled_size[0] * a.pooled_size[1]
        require(
            channels % bins == 0, f"data: {channels} channels cannot be divided among {bins} bins"
        )
        channels //= bins
    return Spec((rois.shape[0], channels, *a.pooled_size), dtype)


def _align(a, xp, data, rois):
    channels = data.shape[1]
    if a.position_sensitive:
        channels //= a.pooled_size[0] * a.pooled_size[1]
    out = xp.zeros((len(rois), channels, *a.pooled_size), data.dtype)
    rows, columns = xp.indices(a.pooled_size)
    for number, region in enumerate(rois):
        if not _counts(region):
            continue
        down, across = _region_weights(a, xp, region, data.shape[2:], data.dtype)
        pooled = xp.matmul(xp.matmul(down, data[int(region[0])]), across.T)
        if a.position_sensitive:
            pooled = pooled[_bins_of(xp, a, channels), rows, columns]
        out[number] = pooled
    return out


def _align_back(a, xp, grads, rois, data):
    out = xp.zeros(data.shape, data.dtype)
    rows, columns = xp.indices(a.pooled_size)
    for grad, region in zip(grads, rois, strict=True):
        if not _counts(region):
            continue
        down, across = _region_weights(a, xp, region, data.shape[2:], data.dtype)
        if a.position_sensitive:
            spread = xp.zeros((data.shape[1], *a.pooled_size), data.dtype)
            spread[_bins_of(xp, a, len(grad)), rows, columns] = grad
            grad = spread
        out[int(region[0])] += xp.matmul(xp.matmul(down.T, grad), across)
    return out


register(
    "_contrib_ROIAlign",
    doc="""Pool regions of interest by averaging bilinear samples over a fixed grid of bins.

Each bin has a grid of `sample_ratio` x `sample_ratio` sampling points (by default about one per
pixel). With `position_sensitive`, each bin has its own channels. `aligned` shifts coordinates by
half a pixel, so that pixel centres lie at halves.

Shapes: data (batch, channels, height, width), rois (n, 5), out (n, channels, *pooled_size). Regions
of negative images, and regions that are not finite, give zeros.""",
    inputs="data rois",
    fields=_ALIGN,
    infer=_infer_align,
    grad=lambda a, F, g, data, rois: (
        F._roi_align_grad(
            g,
            rois,
            data,
            pooled_size=a.pooled_size,
            spatial_scale=a.spatial_scale,
            sample_ratio=a.sample_ratio,
            position_sensitive=a.position_sensitive,
            aligned=a.aligned,
        ),
        F.zeros_like(rois),
    ),
    ref=_align,
    kernels=(_kernel("roi_align", lambda ins, outs: ins[0], lambda ins, outs: outs[0], 4),),
    samples=(
        sample((2, 3, 12, 12), _regions(4, 2), pooled_size=(3, 2), spatial_scale=1.0, grad=False),
        sample(
            (1, 8, 6, 6),
            _regions(3, 1),
            pooled_size=(2, 2),
            spatial_scale=0.5,
            sample_ratio=2,
            position_sensitive=True,
            aligned=True,
            grad=False,
        ),
    ),
    amp="widest",
)
register(
    "_roi_align_grad",
    doc="""Gradient of ROIAlign with respect to its data: distributed to the interpolated pixels.

Takes the gradient of the output, the regions, and the data.""",
    inputs="grads rois data",
    ignores=("data",),
    fields=_ALIGN,
    infer=lambda a, grads, rois, data: infer_gradients(_infer_align, a, grads, data, rois)[0],
    grad=lambda a, F, g, rois: (
        F._contrib_ROIAlign(g, rois, **{field.name: getattr(a, field.name) for field in _ALIGN}),
    ),
    ref=_align_back,
    kernels=(_kernel("roi_align_grad", lambda ins, outs: ins[2], lambda ins, outs: ins[0], 4),),
    samples=(
        sample(
            (3, 2, 2, 2),
            _regions(3, 2),
            (2, 2, 12, 12),
            pooled_size=(2, 2),
            spatial_scale=1.0,
            grad=False,
        ),
    ),
)
