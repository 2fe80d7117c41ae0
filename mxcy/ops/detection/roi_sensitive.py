"""Position-sensitive pooling: each bin of a region has its own channels.

Channels are ordered (output channel, group row, group column). Definitions: Dai et
al. (2016), R-FCN; Dai et al. (2017), Deformable Convolutional Networks.
"""

import numpy as np

from mxcy.ops.core.attrs import Bool, Field, Float, Int
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, infer_gradients, most, require, require_plane, same_dtype
from mxcy.ops.core.params import PARTS
from mxcy.ops.core.record import native, no_rule, register, sample
from mxcy.ops.image.bilinear import Points
from mxcy.ops.norm.batch import require_float

__all__ = []


def _round(xp, x):
    """Round to the nearest integer, halves away from zero."""
    return xp.copysign(xp.floor(abs(x) + 0.5), x)


def _region(a, xp, region, shift=0.0):
    """Return (left, top) of a region on the feature map, and its (width, height)."""
    first = _round(xp, region[1:3]) * a.spatial_scale - shift
    last = (_round(xp, region[3:5]) + 1) * a.spatial_scale - shift
    return first, xp.maximum(last - first, 0.1)


def _group(a, xp):
    """Return the group row or column of each bin along an edge of a region."""
    groups = a.group_size or a.pooled_size
    return xp.clip(xp.arange(a.pooled_size) * groups // a.pooled_size, 0, groups - 1), groups


def _channels(a, xp):
    """Return the channel read by each element of a pooled region: (output_dim, rows, columns)."""
    group, groups = _group(a, xp)
    return (xp.arange(a.output_dim)[:, None, None] * groups + group[:, None]) * groups + group


def _check(a, data, rois):
    dtype = same_dtype((data, rois), ("data", "rois"))
    require_float(data, "data")
    for name in ("pooled_size", "output_dim", "spatial_scale"):
        require(getattr(a, name) > 0, f"{name}: expected a positive number")
    groups = a.group_size or a.pooled_size
    require(groups > 0, f"group_size: expected no negative number, got {a.group_size}")
    data.fill("data", (-1, a.output_dim * groups**2, -1, -1))
    require_plane(data)
    rois.fill("rois", (-1, 5))
    return Spec((rois.shape[0], a.output_dim, a.pooled_size, a.pooled_size), dtype)


def _regions(count, images):
    """Return a sample input: regions in images of 24 x 24 pixels."""

    def draw(rng):
        low = rng.uniform(0, 12, (count, 2))
        number = rng.integers(0, images, (count, 1))
        return np.concatenate([number, low, low + rng.uniform(1, 14, (count, 2))], axis=1)

    return draw


def _params(a, data, rois, trans=None):
    """Return the parameters of the native kernels for these Specs."""
    return {
        "images": data.shape[0],
        "regions": rois.shape[0],
        "channels": a.output_dim,
        "source": data.shape[2:],
        "pooled": a.pooled_size,
        "scale": a.spatial_scale,
        "groups": a.group_size or a.pooled_size,
        "classes": trans.shape[1] // 2 if trans is not None else 1,
        "part_size": getattr(a, "part_size", 0) or a.pooled_size,
        "samples": getattr(a, "sample_per_part", 0),
        "trans_std": getattr(a, "trans_std", 0),
    }


def _attrs(a, fields):
    return {field.name: getattr(a, field.name) for field in fields}


# --- means of pixels -------------------------------------------------------------------------


def _means(a, xp, region, extents, dtype):
    """Return the row and column weights of each bin's mean."""
    first, size = _region(a, xp, region)
    means = []
    for low, length, extent in zip(first[::-1], size[::-1], extents, strict=True):
        step = length / a.pooled_size
        parts = xp.arange(a.pooled_size, dtype=dtype)
        begin = xp.clip(xp.floor(parts * step + low), 0, extent)
        end = xp.clip(xp.ceil((parts + 1) * step + low), 0, extent)
        pixels = xp.arange(extent)
        inside = (pixels >= begin[:, None]) & (pixels < end[:, None])
        means.append((inside / xp.maximum(end - begin, 1)[:, None]).astype(dtype))
    return means


def _pool(a, xp, data, rois):
    out = xp.empty((len(rois), a.output_dim, a.pooled_size, a.pooled_size), data.dtype)
    channels = _channels(a, xp)
    rows, columns = xp.indices(channels.shape[1:])
    for region, target in zip(rois, out, strict=True):
        down, across = _means(a, xp, region, data.shape[2:], data.dtype)
        means = xp.matmul(xp.matmul(down, data[int(region[0])]), across.T)
        target[:] = means[channels, rows, columns]
    return out


def _pool_back(a, xp, grads, rois, data):
    out = xp.zeros(data.shape, data.dtype)
    channels = _channels(a, xp)
    rows, columns = xp.indices(channels.shape[1:])
    for region, grad in zip(rois, grads, strict=True):
        down, across = _means(a, xp, region, data.shape[2:], data.dtype)
        spread = xp.zeros((data.shape[1], *grad.shape[1:]), data.dtype)
        spread[channels, rows, columns] = grad
        out[int(region[0])] += xp.matmul(xp.matmul(down.T, spread), across)
    return out


_POOL = (
    Field("spatial_scale", Float),
    Field("output_dim", Int),
    Field("pooled_size", Int),
    Field("group_size", Int, 0),
)
register(
    "_contrib_PSROIPooling",
    doc="""Pool regions by averaging over bins, each bin with its own channels.

A region has pooled_size x pooled_size bins; neighbouring bins share channels if `group_size`
(`pooled_size` by default) is smaller. Empty bins give 0.

Shapes: data (batch, output_dim * group_size ** 2, height, width); rois (n, 5), (image index, left,
top, right, bottom), whose corners are rounded to pixels and scaled to those of the data by
`spatial_scale`; out (n, output_dim, pooled_size, pooled_size).""",
    inputs="data rois",
    fields=_POOL,
    infer=_check,
    grad=lambda a, F, g, data, rois: (
        F._psroi_pooling_grad(g, rois, data, **_attrs(a, _POOL)),
        F.zeros_like(rois),
    ),
    ref=_pool,
    kernels=(
        native(
            "psroi_pooling",
            struct=PARTS,
            params=lambda a, ins, outs: _params(a, *ins),
            work=lambda a, ins, outs: 32 * outs[0].size,
        ),
    ),
    samples=(
        sample(
            (2, 8, 12, 12),
            _regions(4, 2),
            spatial_scale=0.5,
            output_dim=2,
            pooled_size=2,
            grad=False,
        ),
        sample(
            (1, 12, 9, 8),
            _regions(3, 1),
            spatial_scale=0.25,
            output_dim=3,
            pooled_size=4,
            group_size=2,
            grad=False,
        ),
    ),
    amp="widest",
)
register(
    "_psroi_pooling_grad",
    doc="""Gradient of PSROIPooling from the output's gradient, the regions and the data.""",
    inputs="grads rois data",
    ignores=("data",),
    fields=_POOL,
    grad=lambda a, F, g, rois: F._contrib_PSROIPooling(g, rois, **_attrs(a, _POOL)),
    infer=lambda a, grads, rois, data: infer_gradients(_check, a, grads, data, rois)[0],
    ref=_pool_back,
    kernels=(
        native(
            "psroi_pooling_grad",
            struct=PARTS,
            params=lambda a, ins, outs: _params(a, ins[2], ins[1]),
            work=lambda a, ins, outs: outs[0].size + 32 * ins[0].size,
        ),
    ),
    samples=(
        sample(
            (3, 2, 2, 2),
            _regions(3, 2),
            (2, 8, 12, 12),
            spatial_scale=0.5,
            output_dim=2,
            pooled_size=2,
            grad=False,
        ),
    ),
)


# --- means of shifted points ---------------------------------------------------------------


class _MovedPoints:
    """Sampling points of a region for each element of the result.

    Parameters
    ----------
    trans : array (2 * classes, part_size, part_size) or None
        Offsets to the right and down, in units of the region's size.
    """

    def __init__(self, a, xp, region, trans, extents, dtype):
        first, self.size = _region(a, xp, region, 0.5)
        parts, samples = a.pooled_size, a.sample_per_part
        step = self.size / parts
        # The part of `trans` of each element of the result: (output_dim, rows, columns).
        classes = 1 if trans is None else len(trans) // 2
        place = xp.arange(parts) * (a.part_size or parts) // parts
        each = max(a.output_dim // classes, 1)
        kind = xp.minimum(xp.arange(a.output_dim) // each, classes - 1)
        self.places = kind[:, None, None], place[:, None], place
        moves = 0, 0
        if trans is not None:
            moves = [trans[(2 * kind + i)[:, None, None], place[:, None], place] for i in (0, 1)]
        numbers, inner = xp.arange(parts, dtype=dtype), xp.arange(samples, dtype=dtype)
        shape = (a.output_dim, parts, parts, samples, samples)
        x = numbers * step[0] + first[0] + moves[0] * (a.trans_std * self.size[0])
        y = numbers[:, None] * step[1] + first[1] + moves[1] * (a.trans_std * self.size[1])
        x, y = (xp.broadcast_to(v, shape[:3])[..., None, None] for v in (x, y))
        x = xp.broadcast_to(x + inner * (step[0] / samples), shape)
        y = xp.broadcast_to(y + inner[:, None] * (step[1] / samples), shape)
        height, width = extents
        self.inside = (x >= -0.5) & (x <= width - 0.5) & (y >= -0.5) & (y <= height - 0.5)
        self.count = xp.maximum(self.inside.sum((-1, -2)), 1)
        x, y = (xp.clip(v, 0, n - 1).astype(dtype) for v, n in ((x, width), (y, height)))
        # The channels of an image form one tall plane, read at each element's own channel.
        self.channels = _channels(a, xp)[..., None, None]
        self.points = Points(xp, y, x, extents)
        area = height * width
        self.points.corners = [
            (at + self.channels * area, inside) for at, inside in self.points.corners
        ]

    def mean(self, xp, image):
        """Return the means for an image (channels, height, width)."""
        read = self.points.values(image.reshape(1, -1))[0]
        return xp.where(self.inside, read, 0).sum((-1, -2)) / self.count

    def back(self, a, xp, grad, image, by_image, by_trans):
        """Accumulate a gradient into those of the image and the offsets."""
        each = xp.where(self.inside, (grad / self.count)[..., None, None], 0)
        self.points.add_to(by_image.reshape(1, -1), each[None])
        if by_trans is None:
            return
        slopes = self.points.slopes(image.reshape(1, -1))
        kind, row, column = self.places
        # At a point exactly on a pixel, the neighbour has weight 0.
        for i, slope, part in ((0, slopes[1], self.points.right), (1, slopes[0], self.points.down)):
            moved = (each * xp.where(part > 0, slope[0], 0)).sum((-1, -2))
            moved = moved * (a.trans_std * self.size[i])
            xp.add.at(by_trans, (2 * kind + i, row, column), moved)


def _each_region(a, xp, data, rois, trans):
    for number, region in enumerate(rois):
        moves = None if trans is None else trans[number]
        points = _MovedPoints(a, xp, region, moves, data.shape[2:], data.dtype)
        yield number, int(region[0]), points


def _deformable(a, xp, data, rois, trans=None):
    out = xp.empty((len(rois), a.output_dim, a.pooled_size, a.pooled_size), data.dtype)
    for number, image, points in _each_region(a, xp, data, rois, trans):
        out[number] = points.mean(xp, data[image])
    return out


def _deformable_back(a, xp, grads, data, rois, trans=None):
    by_data = xp.zeros_like(data)
    by_trans = None if trans is None else xp.zeros_like(trans)
    for number, image, points in _each_region(a, xp, data, rois, trans):
        moves = None if trans is None else by_trans[number]
        points.back(a, xp, grads[number], data[image], by_data[image], moves)
    return by_data if trans is None else (by_data, by_trans)


def _infer_deformable(a, data, rois, trans=None):
    require(a.sample_per_part > 0, "sample_per_part: expected a positive number")
    require(a.part_size >= 0, f"part_size: expected no negative number, got {a.part_size}")
    most(a.sample_per_part, 1024, "sample_per_part")
    require(a.group_size > 0, "group_size: expected a positive number")
    spec = _check(a, data, rois)
    if trans is not None:
        side = a.part_size or a.pooled_size
        trans.fill("trans", (rois.shape[0], -1, side, side), data.dtype)
        moves = trans.shape[1]
        require(
            moves == -1 or moves % 2 == 0 and 0 < moves // 2 <= a.output_dim,
            f"trans: {moves} channels are not two for each of up to {a.output_dim} classes",
        )
    return spec


def _infer_moved_back(a, grads, data, rois, *trans):
    by_data, _, *by_trans = infer_gradients(_infer_deformable, a, grads, data, rois, *trans)
    return by_data, *by_trans


def _deformable_grad(a, F, g, data, rois, trans):
    attrs = _attrs(a, _DEFORMABLE)
    if a.no_trans:
        return F._deformable_psroi_grad(g, data, rois, **attrs), F.zeros_like(rois)
    by_data, by_trans = F._deformable_psroi_grad(g, data, rois, trans, **attrs)
    return by_data, F.zeros_like(rois), by_trans


_DEFORMABLE = (
    Field("spatial_scale", Float),
    Field("output_dim", Int),
    Field("group_size", Int),
    Field("pooled_size", Int),
    Field("part_size", Int, 0),
    Field("sample_per_part", Int, 1),
    Field("trans_std", Float, 0.0),
    Field("no_trans", Bool, False),
)


def _moved_kernel(name, first):
    """Return a native kernel whose inputs from `first` on are data, regions and offsets."""

    def when(a, ins, outs):
        return "many samples" if a.sample_per_part > 11 else None

    def work(a, ins, outs):
        results = ins[first + 1].shape[0] * a.output_dim * a.pooled_size**2
        return outs[0].size // 4 + 8 * results * a.sample_per_part**2

    return native(
        name,
        struct=PARTS,
        params=lambda a, ins, outs: _params(a, *ins[first:]),
        when=when,
        work=work,
    )


def _names(a, *first):
    return (*first, "data", "rois", *(() if a.no_trans else ("trans",)))


_MOVED = {"spatial_scale": 0.5, "output_dim": 4, "group_size": 2, "pooled_size": 3}
_OTHERS = {"part_size": 2, "sample_per_part": 2, "trans_std": 0.1}
register(
    "_contrib_DeformablePSROIPooling",
    doc="""Position-sensitive pooling of regions with learned bin offsets and bilinear sampling.

Each of pooled_size x pooled_size bins averages sample_per_part x sample_per_part points; points
outside the image are excluded. Unless `no_trans`, bins are shifted by ``trans * trans_std`` in
units of the region's size.

Shapes: data (batch, output_dim * group_size ** 2, height, width), rois (n, 5), trans (n, 2 *
classes, part_size, part_size) with offsets alternating right and down, out (n, output_dim,
pooled_size, pooled_size). The output channels are divided among the classes. `part_size` is
`pooled_size` by default.""",
    inputs="data rois trans?",
    in_symbols=InSymbols(named=True, listed=2),
    fields=_DEFORMABLE,
    arguments=_names,
    infer=_infer_deformable,
    grad=_deformable_grad,
    ref=_deformable,
    kernels=(_moved_kernel("deformable_psroi", 0),),
    samples=(
        sample((2, 16, 12, 12), _regions(4, 2), no_trans=True, grad=False, **_MOVED),
        sample((1, 16, 12, 12), _regions(3, 1), (3, 4, 2, 2), grad=False, **_MOVED, **_OTHERS),
    ),
    amp="fp32",
)
register(
    "_deformable_psroi_grad",
    doc="""Gradients of DeformablePSROIPooling with respect to data and offsets.

Takes the gradient of the output, the data, the regions and the offsets.""",
    inputs="grads data rois trans?",
    outputs=lambda a: ("data_grad",) if a.no_trans else ("data_grad", "trans_grad"),
    arguments=lambda a: _names(a, "grads"),
    fields=_DEFORMABLE,
    grad=no_rule,
    infer=_infer_moved_back,
    ref=_deformable_back,
    kernels=(_moved_kernel("deformable_psroi_grad", 1),),
    samples=(
        sample((4, 4, 3, 3), (2, 16, 12, 12), _regions(4, 2), no_trans=True, grad=False, **_MOVED),
        sample(
            (3, 4, 3, 3),
            (1, 16, 12, 12),
            _regions(3, 1),
            (3, 4, 2, 2),
            grad=False,
            **_MOVED,
            **_OTHERS,
        ),
    ),
)
