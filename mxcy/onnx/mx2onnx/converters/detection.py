"""Bounding boxes and regions of interest."""

import numpy as np

from mxcy.onnx.mx2onnx.registry import convert

__all__ = ["survivors", "take_rows"]


def _columns(G, x, *places):
    """Split the last axis into parts of size 1, or of a given width."""
    return [G.slice(x, [p], [p + 1], [x.ndim - 1]) for p in places]


def _corners(G, boxes):
    """Convert centre boxes to left, top, right, bottom."""
    last = boxes.ndim - 1
    center, size = G.slice(boxes, [0], [2], [last]), G.slice(boxes, [2], [4], [last])
    half = size * 0.5
    return G.concat([G.Sub(center, half), G.Add(center, half)], last)


def _centers(G, boxes):
    """Convert corner boxes to x, y, width, height."""
    last = boxes.ndim - 1
    low, high = G.slice(boxes, [0], [2], [last]), G.slice(boxes, [2], [4], [last])
    return G.concat([G.Add(low, high) * 0.5, G.Sub(high, low)], last)


@convert("_contrib_box_decode")
def box_decode(a, G, x, anchors):
    """Decode offsets to boxes."""
    base = anchors if a.format == "center" else _centers(G, anchors)
    moved = G.Mul(x, G.const(np.array([a.std0, a.std1, a.std2, a.std3], x.dtype)))
    center, size = G.slice(base, [0], [2], [2]), G.slice(base, [2], [4], [2])
    places = G.Add(G.Mul(G.slice(moved, [0], [2], [2]), size), center)
    growth = G.slice(moved, [2], [4], [2])
    if a.clip > 0:
        growth = G.clip(growth, high=a.clip)
    half = G.Mul(G.Exp(growth), size) * 0.5
    return G.concat([G.Sub(places, half), G.Add(places, half)], 2)


@convert("_contrib_box_iou")
def box_iou(a, G, x, y):
    """Intersection over union of all pairs."""
    if a.format == "center":
        x, y = _corners(G, x), _corners(G, y)
    own, others = G.dims(x)[:-1], G.dims(y)[:-1]
    x = G.reshape(x, [-1, 1, 4])
    y = G.reshape(y, [1, -1, 4])
    low = G.Max(G.slice(x, [0], [2], [2]), G.slice(y, [0], [2], [2]))
    high = G.Min(G.slice(x, [2], [4], [2]), G.slice(y, [2], [4], [2]))
    shared = _area(G, low, high, clip=True)
    union = G.Sub(
        G.Add(*(_area(G, G.slice(v, [0], [2], [2]), G.slice(v, [2], [4], [2])) for v in (x, y))),
        shared,
    )
    zero = G.like(x, 0)
    overlaps = G.Where(G.Greater(union, zero), G.Div(shared, union), zero)
    return G.reshape(overlaps, [*own, *others])


def _area(G, low, high, clip=False):
    size = G.Sub(high, low)
    size = G.clip(size, low=0) if clip else size
    width, height = _columns(G, size, 0, 1)
    return G.squeeze(G.Mul(width, height), (2,))


# --- suppression ---------------------------------------------------------------------------------


def take_rows(G, x, places):
    """Take rows (batch, k, ...) at positions (batch, k)."""
    rows = G.op("GatherND", x, G.unsqueeze(places, (2,)), batch_dims=1)
    rows.shape = (x.shape[0], places.shape[1], *x.shape[2:])
    return rows


def survivors(G, boxes, scores, overlap, least, center=False):
    """Mask (batch, boxes) of boxes that survive suppression; scores are in descending order."""
    count = G.cast(G.reshape(G.as_vector(G.dim(scores, 1)), []), np.int64)
    chosen = G.op(
        "NonMaxSuppression",
        G.cast(boxes, np.float32),
        G.cast(G.unsqueeze(scores, (1,)), np.float32),
        count,
        G.const(np.float32(overlap)),
        G.const(np.float32(least)),
        center_point_box=int(center),
        shape=(-1, 3),
    )
    places = G.gather(chosen, G.ints(0, 2), 1)
    ones = G.expand(G.full([1], 1, scores.dtype), [G.dim(chosen, 0)])
    zeros = G.full(G.dims(scores), 0, scores.dtype)
    marks = G.ScatterND(zeros, places, ones)
    marks.shape = scores.shape
    return marks


def _apart(G, boxes, kinds, center=False):
    """Shift boxes by class so that different classes never overlap."""
    reach = G.reduce("Max", G.Abs(boxes)) * 2 + 1
    offset = G.Mul(kinds, reach)
    if center:
        zero = offset * 0
        return G.Add(boxes, G.concat([offset, offset, zero, zero], 2))
    return G.Add(boxes, offset)


@convert("_contrib_box_nms")
def box_nms(a, G, x):
    """NonMaxSuppression on sorted rows; survivors are moved to the front."""
    shape = G.dims(x)
    rows = G.reshape(x, [-1, *shape[-2:]]) if x.ndim != 3 else x
    lowest = float(np.finfo(np.float32).min)
    score = G.squeeze(_columns(G, rows, a.score_index)[0], (2,))
    if a.id_index >= 0:
        kind = G.squeeze(_columns(G, rows, a.id_index)[0], (2,))
        is_background = G.Equal(kind, G.like(kind, a.background_id))
        score = G.Where(is_background, G.like(score, lowest), score)
    total = G.dim(rows, 1)
    count = total
    if a.topk > 0:
        if not isinstance(total, int):
            G.unsupported("topk with a free number of boxes")
        count = min(a.topk, total)
    score, order = G.top(score, count, 1)
    rows = take_rows(G, rows, order)
    boxes = G.slice(rows, [a.coord_start], [a.coord_start + 4], [2])
    apart, center = boxes, a.in_format == "center"
    if a.id_index >= 0 and not a.force_suppress:
        apart = _apart(G, boxes, _columns(G, rows, a.id_index)[0], center)
    alive = survivors(G, apart, score, a.overlap_thresh, a.valid_thresh, center)
    if a.in_format != a.out_format:
        change = _corners if a.in_format == "center" else _centers
        before = G.slice(rows, [0], [a.coord_start], [2]) if a.coord_start else None
        width = rows.shape[2]
        after = None
        if width == -1 or a.coord_start + 4 < width:
            after = G.slice(rows, [a.coord_start + 4], [2**31], [2])
        rows = G.concat([v for v in (before, change(G, boxes), after) if v is not None], 2)
    # Survivors keep their order and precede all other rows.
    rank = G.cast(G.Neg(G.arange(0, count)), score.dtype)
    key = G.Where(G.cast(alive, bool), rank, G.like(score, lowest))
    key.shape = score.shape
    key, order = G.top(key, count, 1)
    kept = G.Greater(key, G.like(key, lowest))
    rows = G.Where(G.unsqueeze(kept, (2,)), take_rows(G, rows, order), G.like(x, -1))
    rows.shape = (
        x.shape[0] if x.ndim == 3 else -1,
        count if isinstance(count, int) else -1,
        x.shape[-1],
    )
    if a.topk > 0 and count < total:
        rows = G.pad(rows, (0, 0, 0), (0, total - count, 0), number=-1)
    return [G.reshape(rows, shape), None]


@convert("_contrib_MultiBoxPrior")
def multibox_prior(a, G, x):
    """Constant anchors, which depend on the extents of the image only."""
    if -1 in x.shape[2:]:
        G.unsupported("free spatial extents")
    return G.const(G.node.op.ref(a, np, np.zeros((1, 1, *x.shape[2:]), x.dtype)))


@convert("_contrib_MultiBoxDetection")
def multibox_detection(a, G, scores, offsets, anchors):
    """Decode boxes by descending score; suppressed ones get class -1."""
    classes = scores.shape[1]
    if classes == -1:
        G.unsupported("a free number of classes")
    others = [i for i in range(classes) if i != a.background_id]
    foreground = G.gather(scores, G.ints(*others), 1) if len(others) < classes else scores
    kind = G.cast(G.op("ArgMax", foreground, axis=1, keepdims=0), scores.dtype)
    score = G.reduce("Max", foreground, (1,))
    kind.shape = score.shape
    boxes = _moved_anchors(a, G, anchors, offsets)
    score, order = G.top(score, G.dim(score, 1), 1)
    kind = G.unsqueeze(take_rows(G, kind, order), (2,))
    boxes = take_rows(G, boxes, order)
    counts = G.Not(G.Less(score, G.like(score, a.threshold)))
    none = G.like(score, -1)
    if 0 < a.nms_threshold <= 1:
        apart = boxes if a.force_suppress else _apart(G, boxes, kind)
        least = np.nextafter(np.float32(a.threshold), np.float32(-1))
        considered = score
        if a.nms_topk > 0:
            first = G.Less(G.arange(0, G.dim(score, 1)), G.const(np.int64(a.nms_topk)))
            considered = G.Where(first, score, none)
            considered.shape = score.shape
        alive = survivors(G, apart, considered, a.nms_threshold, least)
        kind = G.Where(G.unsqueeze(G.cast(alive, bool), (2,)), kind, none)
    rows = G.concat([kind, G.unsqueeze(score, (2,)), boxes], 2)
    return G.Where(G.unsqueeze(counts, (2,)), rows, none)


def _moved_anchors(a, G, anchors, offsets):
    """Apply predicted offsets to anchors; return corners."""
    base = _centers(G, anchors)
    offsets = G.reshape(offsets, [G.dim(offsets, 0), -1, 4])
    offsets = G.Mul(offsets, G.const(np.array(a.variances, offsets.dtype)))
    center, size = G.slice(base, [0], [2], [2]), G.slice(base, [2], [4], [2])
    places = G.Add(G.Mul(G.slice(offsets, [0], [2], [2]), size), center)
    half = G.Mul(G.Exp(G.slice(offsets, [2], [4], [2])), size) * 0.5
    boxes = G.concat([G.Sub(places, half), G.Add(places, half)], 2)
    return G.clip(boxes, 0, 1) if a.clip else boxes


# --- regions -------------------------------------------------------------------------------------


@convert("ROIPooling")
def roi_pooling(a, G, x, regions):
    """Convert to MaxRoiPool."""
    pooled = G.MaxRoiPool(x, regions, pooled_shape=a.pooled_size, spatial_scale=a.spatial_scale)
    return [pooled, None]


@convert("_contrib_ROIAlign")
def roi_align(a, G, x, regions):
    """Convert to RoiAlign; invalid regions give 0."""
    if a.position_sensitive:
        G.unsupported("position_sensitive=True")
    if a.aligned and G.opset < 16:
        G.unsupported("aligned=True before opset 16")
    image = G.squeeze(_columns(G, regions, 0)[0], (1,))
    zero = G.like(image, 0)
    options = {}
    if G.opset >= 16:
        options["coordinate_transformation_mode"] = (
            "half_pixel" if a.aligned else "output_half_pixel"
        )
    pooled = G.RoiAlign(
        x,
        G.slice(regions, [1], [5], [1]),
        G.cast(G.Max(image, zero), np.int64),
        output_height=a.pooled_size[0],
        output_width=a.pooled_size[1],
        sampling_ratio=max(a.sample_ratio, 0),
        spatial_scale=a.spatial_scale,
        **options,
    )
    outside = G.reshape(G.Less(image, zero), [-1, 1, 1, 1])
    return G.Where(outside, G.like(x, 0), pooled)
