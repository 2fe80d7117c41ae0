"""Region proposals."""

import numpy as np

from mxcy.onnx.mx2onnx.converters.detection import survivors, take_rows
from mxcy.onnx.mx2onnx.registry import convert
from mxcy.ops.detection.proposal import shifted_anchors

__all__ = []


def _part(G, x, start, end):
    return G.slice(x, [start], [end], [2])


def _moved(a, G, anchors, deltas):
    """Apply predicted offsets to anchors, (batch, boxes, 4)."""
    if a.iou_loss:
        return G.Add(G.const(anchors[None]), deltas)
    size = anchors[None, :, 2:] - anchors[None, :, :2] + 1
    centre = anchors[None, :, :2] + 0.5 * (size - 1)
    size, centre = G.const(size), G.const(centre)
    half = (G.Mul(G.Exp(_part(G, deltas, 2, 4)), size) - 1) * 0.5
    centre = G.Add(G.Mul(_part(G, deltas, 0, 2), size), centre)
    return G.concat([G.Sub(centre, half), G.Add(centre, half)], 2)


def _limits(G, info):
    """Last pixel coordinates (batch, 1, 4) of images."""
    height, width = (G.slice(info, [i], [i + 1], [1]) for i in (0, 1))
    return G.unsqueeze(G.concat([width, height, width, height], 1) - 1, (1,))


def _candidates(a, G, prob, deltas, info):
    """All boxes (batch, n, 4) and their scores (batch, n)."""
    anchors, (height, width) = prob.shape[1] // 2, prob.shape[2:]
    total, dtype = anchors * height * width, prob.dtype
    deltas = G.reshape(deltas, [-1, anchors, 4, height * width])
    deltas = G.reshape(G.transpose(deltas, (0, 3, 1, 2)), [-1, total, 4])
    boxes = _moved(a, G, shifted_anchors(a, np, height, width, dtype), deltas)
    boxes = G.Min(G.Max(boxes, G.like(boxes, 0)), _limits(G, info))
    scores = G.slice(prob, [anchors], [2 * anchors], [1])
    scores = G.reshape(G.transpose(scores, (0, 2, 3, 1)), [-1, total])
    y, x = np.indices((height, width)).reshape(2, -1).repeat(anchors, 1)
    outside = None
    for axis, place in enumerate((y, x)):
        extent = G.Floor(G.slice(info, [axis], [axis + 1], [1]) / a.feature_stride)
        beyond = G.Not(G.Less(G.const(place[None].astype(dtype)), extent))
        outside = beyond if outside is None else G.Or(outside, beyond)
    least = G.slice(info, [2], [3], [1]) * a.rpn_min_size
    size = G.Sub(_part(G, boxes, 2, 4), _part(G, boxes, 0, 2)) + 1
    size.shape = (-1, total, 2)
    small = G.Less(G.reduce("Min", size, (2,)), least)
    grown = G.Mul(G.const(np.array([-0.5, -0.5, 0.5, 0.5], dtype)), G.unsqueeze(least, (2,)))
    boxes = G.Where(G.unsqueeze(small, (2,)), G.Add(boxes, grown), boxes)
    scores = G.Where(G.Or(outside, small), G.like(prob, -1), scores)
    boxes.shape, scores.shape = (prob.shape[0], total, 4), (prob.shape[0], total)
    return boxes, scores


@convert("_contrib_Proposal", "_contrib_MultiProposal")
def proposal(a, G, prob, deltas, info):
    """NonMaxSuppression of the best boxes; survivors are repeated to the required number."""
    if -1 in prob.shape[1:]:
        G.unsupported("free spatial extents")
    boxes, scores = _candidates(a, G, prob, deltas, info)
    total, after = scores.shape[1], a.rpn_post_nms_top_n
    count = min(total, a.rpn_pre_nms_top_n) if a.rpn_pre_nms_top_n > 0 else total
    scores, order = G.top(scores, count, 1)
    boxes = take_rows(G, boxes, order)
    # Boxes extend from the first pixel to one past the last.
    edges = G.Add(boxes, G.const(np.array([0, 0, 1, 1], prob.dtype)))
    alive = survivors(G, edges, scores, a.threshold, -2)
    rank = G.cast(G.const(-np.arange(count)), scores.dtype)
    key = G.Where(G.cast(alive, bool), rank, G.like(scores, -count - 1))
    key.shape = scores.shape
    _, order = G.top(key, count, 1)
    kept = G.reduce("Sum", G.cast(alive, np.int64), (1,), True)
    kept = G.Min(kept, G.const(np.int64([[after]])))
    places = G.op("Mod", G.const(np.arange(after)[None]), kept)
    places.shape, places.dtype = (prob.shape[0], after), np.dtype(np.int64)
    chosen = take_rows(G, G.unsqueeze(order, (2,)), places)
    chosen = G.squeeze(chosen, (2,))
    images = G.reshape(G.cast(G.arange(0, G.dim(prob, 0)), prob.dtype), [-1, 1, 1])
    images = G.expand(images, [G.dim(prob, 0), after, 1])
    regions = G.concat([images, take_rows(G, boxes, chosen)], 2)
    top_scores = take_rows(G, G.unsqueeze(scores, (2,)), chosen)
    return [G.reshape(regions, [-1, 5]), G.reshape(top_scores, [-1, 1])]


@convert("_contrib_box_encode")
def box_encode(a, G, samples, matches, anchors, refs, means, stds):
    """Encode offsets from anchors to their matched boxes, and a mask of matches."""
    counts = G.unsqueeze(G.Greater(samples, G.like(samples, 0.5)), (2,))
    boxes = take_rows(G, refs, G.cast(matches, np.int64))
    (x, w), (px, pw) = ((_centre(G, v), _size(G, v)) for v in (boxes, anchors))
    moved = G.concat([G.Div(G.Sub(x, px), pw), G.Log(G.Div(w, pw))], 2)
    moved = G.Div(G.Sub(moved, means), stds)
    zero = G.like(anchors, 0)
    mask = G.expand(G.Where(counts, G.like(anchors, 1), zero), [*G.dims(anchors)[:2], 4])
    return [G.Where(counts, moved, zero), mask]


def _centre(G, boxes):
    return G.Add(_part(G, boxes, 0, 2), _part(G, boxes, 2, 4)) * 0.5


def _size(G, boxes):
    return G.Sub(_part(G, boxes, 2, 4), _part(G, boxes, 0, 2))
