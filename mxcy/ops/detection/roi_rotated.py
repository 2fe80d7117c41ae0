"""Pooling of rotated regions of interest.

Definition: Ma et al. (2018), Arbitrary-Oriented Scene Text Detection via Rotation Proposals.
"""

import math

import numpy as np

from mxcy.ops.core.attrs import Field, Float, Int, Shape
from mxcy.ops.core.infer import Spec, infer_gradients, most, require, require_plane, same_dtype
from mxcy.ops.core.params import ROI
from mxcy.ops.core.record import native, register, sample
from mxcy.ops.image.bilinear import Points
from mxcy.ops.norm.batch import require_float

__all__ = []

_FIELDS = (
    Field("pooled_size", Shape),
    Field("spatial_scale", Float),
    Field("sampling_ratio", Int, -1),
)


class _RotatedPoints(Points):
    """Sampling points of a region, (rows, columns, rows per bin, columns per bin)."""

    def __init__(self, a, xp, region, extents, dtype):
        x, y, width, height = (float(v) * a.spatial_scale for v in region[1:5])
        along = []
        for length, parts in ((height, a.pooled_size[0]), (width, a.pooled_size[1])):
            length = max(length, 1.0)
            each = a.sampling_ratio if a.sampling_ratio > 0 else math.ceil(length / parts)
            require(each <= 4096, f"rois: {each} points to a part of a region")
            inner = (xp.arange(each) + 0.5) / each
            along.append((xp.arange(parts)[:, None] + inner) * (length / parts) - length / 2)
        down, right = along[0][:, None, :, None], along[1][:, None, :]
        angle = float(region[5]) * math.pi / 180
        cosine, sine = math.cos(angle), math.sin(angle)
        at_x = right * cosine + down * sine + x
        at_y = down * cosine - right * sine + y
        rows, columns = extents
        self.counts = (at_y >= -1) & (at_y <= rows) & (at_x >= -1) & (at_x <= columns)
        at_y, at_x = xp.clip(at_y, 0, rows - 1), xp.clip(at_x, 0, columns - 1)
        super().__init__(xp, at_y.astype(dtype), at_x.astype(dtype), extents)

    def means(self, image):
        """Return the bin means for an image (channels, height, width)."""
        return (self.values(image.reshape(len(image), -1)) * self.counts).mean((-1, -2))


def _each(a, xp, rois, data):
    for number, region in enumerate(rois):
        if region[0] >= 0 and np.isfinite(region).all():
            yield (
                number,
                int(region[0]),
                _RotatedPoints(a, xp, region, data.shape[2:], data.dtype),
            )


def _ref(a, xp, data, rois):
    out = xp.zeros((len(rois), data.shape[1], *a.pooled_size), data.dtype)
    for number, image, points in _each(a, xp, rois, data):
        out[number] = points.means(data[image])
    return out


def _back(a, xp, grads, rois, data):
    out = xp.zeros(data.shape, data.dtype)
    for number, image, points in _each(a, xp, rois, data):
        share = points.counts / math.prod(points.counts.shape[-2:])
        parts = (grads[number][..., None, None] * share).astype(data.dtype)
        points.add_to(out[image].reshape(len(out[image]), -1), parts)
    return out


def _infer(a, data, rois):
    dtype = same_dtype((data, rois), ("data", "rois"))
    require_float(data, "data")
    require(
        len(a.pooled_size) == 2 and min(a.pooled_size) > 0,
        f"pooled_size: expected (height, width), got {a.pooled_size}",
    )
    require(a.spatial_scale > 0, "spatial_scale: expected a positive number")
    most(a.sampling_ratio, 1024, "sampling_ratio")
    data.fill("data", (-1, -1, -1, -1))
    require_plane(data)
    rois.fill("rois", (-1, 6))
    return Spec((rois.shape[0], data.shape[1], *a.pooled_size), dtype)


def _regions(count, images):
    """Return a sample input: rotated regions in images of 12 x 12 pixels."""

    def draw(rng):
        number = rng.integers(0, images, (count, 1))
        places = rng.uniform(3, 9, (count, 2)), rng.uniform(1, 8, (count, 2))
        return np.concatenate([number, *places, rng.uniform(-90, 90, (count, 1))], axis=1)

    return draw


def _kernel(name, roles):
    """Return a native kernel; ``roles(ins, outs)`` are the Specs of data and pooled regions."""

    def params(a, ins, outs):
        data, pooled = roles(ins, outs)
        return {
            "images": data.shape[0],
            "regions": pooled.shape[0],
            "channels": data.shape[1],
            "source": data.shape[2:],
            "pooled": a.pooled_size,
            "scale": a.spatial_scale,
            "samples": max(a.sampling_ratio, 0),
            "sensitive": 0,
            "aligned": 0,
        }

    return native(
        name,
        struct=ROI,
        params=params,
        work=lambda a, ins, outs: 64 * roles(ins, outs)[1].size + outs[0].size,
    )


register(
    "_contrib_RROIAlign",
    doc="""Pool rotated regions of interest by averaging bilinear samples over a grid of bins.

A region is (image index, x and y of the centre, width, height, degrees); `spatial_scale` maps it to
pixels of the data. Each bin has a grid of `sampling_ratio` x `sampling_ratio` bilinear sampling
points (by default about one per pixel).

Shapes: data (batch, channels, height, width), rois (n, 6), out (n, channels, *pooled_size). Regions
of negative images, and regions that are not finite, give zeros.""",
    inputs="data rois",
    fields=_FIELDS,
    infer=_infer,
    grad=lambda a, F, g, data, rois: (
        F._rroi_align_grad(
            g, rois, data, **{field.name: getattr(a, field.name) for field in _FIELDS}
        ),
        F.zeros_like(rois),
    ),
    ref=_ref,
    kernels=(_kernel("rroi_align", lambda ins, outs: (ins[0], outs[0])),),
    samples=(
        sample((2, 3, 12, 12), _regions(4, 2), pooled_size=(3, 2), spatial_scale=1.0, grad=False),
        sample(
            (1, 2, 6, 6),
            _regions(3, 1),
            pooled_size=(2, 2),
            spatial_scale=0.5,
            sampling_ratio=3,
            grad=False,
        ),
    ),
    amp="widest",
)
register(
    "_rroi_align_grad",
    doc="""Gradient of RROIAlign from the output's gradient, the regions and the data.""",
    inputs="grads rois data",
    ignores=("data",),
    fields=_FIELDS,
    infer=lambda a, grads, rois, data: infer_gradients(_infer, a, grads, data, rois)[0],
    grad=lambda a, F, g, rois: (
        F._contrib_RROIAlign(g, rois, **{field.name: getattr(a, field.name) for field in _FIELDS}),
    ),
    ref=_back,
    kernels=(_kernel("rroi_align_grad", lambda ins, outs: (ins[2], ins[0])),),
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
