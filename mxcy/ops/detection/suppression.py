"""Non-maximum suppression."""

import numpy as np

from mxcy.ops.core.attrs import Bool, Field, Float, Int
from mxcy.ops.core.infer import Spec, require, same_dtype
from mxcy.ops.core.params import BOX_NMS
from mxcy.ops.core.record import native, no_rule, register, sample
from mxcy.ops.detection.boxes import BOX_FORMAT, centers, corners, overlaps, random_boxes
from mxcy.ops.norm.batch import require_float


def _kept(a, xp, rows):
    """Return the indices of the remaining rows (n, k), by descending score."""
    score = rows[:, a.score_index]
    candidates = score > a.valid_thresh
    if a.id_index >= 0:
        candidates &= rows[:, a.id_index] != a.background_id
    order = xp.argsort(-score, kind="stable")
    order = order[candidates[order]]
    if a.topk > 0:
        order = order[: a.topk]
    boxes = corners(xp, rows[order, a.coord_start : a.coord_start + 4], a.in_format)
    kinds = None if a.id_index < 0 or a.force_suppress else rows[order, a.id_index]
    alive = xp.ones(len(order), bool)
    for number in range(len(order)):
        if alive[number]:
            later = slice(number + 1, None)
            hit = overlaps(xp, boxes[number], boxes[later]) > a.overlap_thresh
            alive[later] &= ~(hit if kinds is None else hit & (kinds[later] == kinds[number]))
    return order[alive]


def _check_nms(a, data):
    require_float(data, "data")
    if data.shape is None:
        return
    width = data.shape[-1] if data.shape else 0
    require(data.ndim >= 2, f"data: expected shape (..., boxes, numbers), got {data.shape}")
    places = {
        "coord_start": a.coord_start + 3,
        "score_index": a.score_index,
        "id_index": max(a.id_index, 0),
    }
    for name, place in places.items():
        require(width == -1 or 0 <= place < width, f"{name}: does not fit rows of {width} numbers")
    require(a.coord_start >= 0, f"coord_start: expected no negative number, got {a.coord_start}")


_NMS = (
    Field("overlap_thresh", Float, 0.5),
    Field("valid_thresh", Float, 0.0),
    Field("topk", Int, -1),
    Field("coord_start", Int, 2),
    Field("score_index", Int, 1),
    Field("id_index", Int, -1),
    Field("background_id", Int, -1),
    Field("force_suppress", Bool, False),
    Field("in_format", BOX_FORMAT, "corner"),
    Field("out_format", BOX_FORMAT, "corner"),
)


def _infer_nms(a, data):
    _check_nms(a, data)
    shape = data.shape
    return Spec(shape, data.dtype), Spec(None if shape is None else shape[:-1], data.dtype)


def _nms(a, xp, data):
    rows = data.reshape(-1, *data.shape[-2:])
    out = xp.full_like(rows, -1)
    places = xp.full(rows.shape[:-1], -1, data.dtype)
    box = slice(a.coord_start, a.coord_start + 4)
    for sample_, result, place in zip(rows, out, places, strict=True):
        kept = _kept(a, xp, sample_)
        count = len(kept)
        result[:count], place[:count] = sample_[kept], kept
        if a.in_format != a.out_format:
            chosen = result[:count, box]
            to_center = a.out_format == "center"
            result[:count, box] = centers(xp, chosen) if to_center else corners(xp, chosen)
    return out.reshape(data.shape), places.reshape(data.shape[:-1])


def _scored(*shape):
    """Return a sample input: rows of class, score and box."""

    def draw(rng):
        kind = rng.integers(0, 2, (*shape, 1)).astype(float)
        score = rng.permutation(rng.uniform(0.05, 1, (*shape, 1)))
        return np.concatenate([kind, score, random_boxes(*shape)(rng)], axis=-1)

    return draw


def _nms_params(a, ins, outs):
    rows, width = ins[0].shape[-2:]
    return {
        "batch": ins[0].size // max(rows * width, 1),
        "rows": rows,
        "width": width,
        "box": a.coord_start,
        "score": a.score_index,
        "kind": a.id_index,
        "top": a.topk,
        "force": a.force_suppress,
        "center_in": a.in_format == "center",
        "center_out": a.out_format == "center",
        "background": a.background_id,
        "overlap": a.overlap_thresh,
        "valid": a.valid_thresh,
    }


def _nms_work(a, ins, outs):
    rows = ins[0].shape[-2]
    return outs[1].size * (64 + (min(rows, a.topk) if a.topk > 0 else rows) // 8)


register(
    "_contrib_box_nms",
    aliases=("_contrib_box_non_maximum_suppression", "_npx_box_nms"),
    doc="""Apply non-maximum suppression to boxes.

Rows hold a score at `score_index`, a box from `coord_start` on, and the class at `id_index`, if
that is not negative. By descending score, each row suppresses later ones (of its class, unless
`force_suppress`) whose boxes overlap its own by more than `overlap_thresh`. Rows scored
`valid_thresh` or less, those of class `background_id` (-1: rows suppressed before), and all but the
best `topk` are excluded.

Shapes: data and out (..., boxes, numbers). Remaining rows come first, by descending score; the
others are filled with -1. The hidden second output holds the source index of each row.""",
    fields=_NMS,
    outputs="output places",
    visible=1,
    infer=_infer_nms,
    grad=lambda a, F, g, places: F._box_nms_grad(g[0], places),
    ref=_nms,
    kernels=(native("box_nms", struct=BOX_NMS, params=_nms_params, work=_nms_work),),
    samples=(
        sample(_scored(8), overlap_thresh=0.2, grad=False),
        sample(_scored(2, 6), overlap_thresh=0.1, id_index=0, topk=4, grad=False),
        sample(_scored(6), id_index=0, force_suppress=True, background_id=1, grad=False),
        sample(_scored(5), valid_thresh=0.5, out_format="center", grad=False),
    ),
    amp="widest",
)


def _infer_nms_grad(a, data, places):
    same_dtype((data, places), ("data", "places"))
    if data.shape is not None:
        require(data.ndim >= 2, f"data: expected shape (..., boxes, numbers), got {data.shape}")
        places.fill("places", data.shape[:-1])
    return Spec(data.shape, data.dtype)


def _nms_grad(a, xp, grads, places):
    out = xp.zeros_like(grads)
    rows, into = grads.reshape(-1, *grads.shape[-2:]), out.reshape(-1, *grads.shape[-2:])
    for row, target, place in zip(rows, into, places.reshape(rows.shape[:-1]), strict=True):
        kept = place >= 0
        target[place[kept].astype("int64")] = row[kept]
    return out


register(
    "_box_nms_grad",
    doc="""Gradient of box_nms: rows of the output's gradient scattered to their source.

Shapes: data (..., boxes, numbers) and places (..., boxes).""",
    inputs="data places",
    grad=no_rule,
    infer=_infer_nms_grad,
    ref=_nms_grad,
    samples=(
        sample((3, 2), lambda rng: np.array([2.0, 0.0, -1.0])),
        sample((2, 2, 3), lambda rng: np.array([[1.0, -1.0], [0.0, 1.0]])),
    ),
)
