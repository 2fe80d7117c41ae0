"""Boxes around objects: overlaps, suppression of duplicates, matching, encoding as offsets.

A box is four numbers: ``corner`` is (left, top, right, bottom), ``center`` (x, y, width, height).
"""

import math

import numpy as np

from mxcy.ops.core.attrs import Bool, Enum, Field, Float, Int
from mxcy.ops.core.infer import Spec, require, same_dtype
from mxcy.ops.core.params import BOX_CODE, BOX_IOU, BOX_NMS
from mxcy.ops.core.record import native, op, register, sample, stop, values
from mxcy.ops.norm.batch import require_float

__all__ = ["corners", "overlaps"]

_Format = Enum("center", "corner")


def corners(xp, boxes, form="center"):
    """Boxes (..., 4) of a format as left, top, right, bottom."""
    if form == "corner":
        return boxes
    half = boxes[..., 2:] * 0.5
    return xp.concatenate([boxes[..., :2] - half, boxes[..., :2] + half], axis=-1)


def _centers(xp, boxes):
    """Corner boxes (..., 4) as x, y, width, height."""
    size = boxes[..., 2:] - boxes[..., :2]
    return xp.concatenate([boxes[..., :2] + 0.5 * size, size], axis=-1)


def overlaps(xp, lhs, rhs):
    """Intersection over union of corner boxes whose leading dimensions broadcast."""
    low = xp.maximum(lhs[..., :2], rhs[..., :2])
    high = xp.minimum(lhs[..., 2:], rhs[..., 2:])
    shared = xp.maximum(high - low, 0).prod(-1)
    areas = [xp.maximum(boxes[..., 2:] - boxes[..., :2], 0).prod(-1) for boxes in (lhs, rhs)]
    united = areas[0] + areas[1] - shared
    return xp.where(united > 0, shared / xp.where(united > 0, united, 1), 0).astype(lhs.dtype)


def _boxes(spec, name):
    if spec.shape is not None:
        last = spec.shape[-1] if spec.shape else 0
        require(last in (-1, 4), f"{name}: expected shape (..., 4), got {spec.shape}")


def _random_boxes(*shape):
    """A sample input: corner boxes that are not empty."""

    def draw(rng):
        low = rng.uniform(0, 0.6, (*shape, 2))
        return np.concatenate([low, low + rng.uniform(0.1, 0.5, (*shape, 2))], axis=-1)

    return draw


@op("_contrib_box_iou", aliases=("_npx_box_iou",), inputs="lhs rhs", amp="widest")
class BoxIou:
    """Overlap (intersection over union) of each box of one array with each of another.

    Shapes: lhs (a..., 4), rhs (b..., 4), out (a..., b...). No gradient flows.
    """

    format: _Format = "corner"

    grad = stop
    kernels = (
        native(
            "box_iou",
            struct=BOX_IOU,
            work=lambda a, ins, outs: 2 * outs[0].size,
            params=lambda a, ins, outs: {
                "lhs": ins[0].size // 4,
                "rhs": ins[1].size // 4,
                "center": a.format == "center",
            },
        ),
    )
    samples = (
        sample(_random_boxes(5), _random_boxes(2, 3), grad=False),
        sample(values(0.1, 1, (2, 4)), values(0.1, 1, (3, 4)), format="center", grad=False),
    )

    def infer(a, lhs, rhs):
        dtype = same_dtype((lhs, rhs), ("lhs", "rhs"))
        require_float(lhs, "lhs")
        _boxes(lhs, "lhs")
        _boxes(rhs, "rhs")
        known = lhs.shape is not None and rhs.shape is not None
        return Spec((*lhs.shape[:-1], *rhs.shape[:-1]) if known else None, dtype)

    def ref(a, xp, lhs, rhs):
        first = corners(xp, lhs, a.format).reshape(-1, 1, 4)
        second = corners(xp, rhs, a.format).reshape(1, -1, 4)
        return overlaps(xp, first, second).reshape(lhs.shape[:-1] + rhs.shape[:-1])


# --- suppression -----------------------------------------------------------------------------


def _kept(a, xp, rows):
    """The numbers of the rows (n, k) that stay, by falling score."""
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
    Field("in_format", _Format, "corner"),
    Field("out_format", _Format, "corner"),
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
            found = result[:count, box]
            to_center = a.out_format == "center"
            result[:count, box] = _centers(xp, found) if to_center else corners(xp, found)
    return out.reshape(data.shape), places.reshape(data.shape[:-1])


def _scored(*shape):
    """A sample input: rows of a kind, a score, and a box."""

    def draw(rng):
        kind = rng.integers(0, 2, (*shape, 1)).astype(float)
        score = rng.permutation(rng.uniform(0.05, 1, (*shape, 1)))
        return np.concatenate([kind, score, _random_boxes(*shape)(rng)], axis=-1)

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
    doc="""Leave out boxes that overlap a better one too much.

Rows hold a score at `score_index`, a box from `coord_start` on, and the object's kind at
`id_index`, if that is not negative. By falling score, each row suppresses later ones (of its kind,
unless `force_suppress`) whose boxes overlap its own by more than `overlap_thresh`. Rows scored
`valid_thresh` or less, those of kind `background_id` (-1: rows that were left out before), and all
but the best `topk` do not take part.

Shapes: data and out (..., boxes, numbers). The rows that stay come first, by falling score; the
others are filled with -1. The hidden second output tells where rows came from.""",
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
    doc="""The gradient of box_nms: rows of the output's gradient, put back where they came from.

Shapes: data (..., boxes, numbers) and places (..., boxes).""",
    inputs="data places",
    infer=_infer_nms_grad,
    ref=_nms_grad,
    samples=(
        sample((3, 2), lambda rng: np.array([2.0, 0.0, -1.0])),
        sample((2, 2, 3), lambda rng: np.array([[1.0, -1.0], [0.0, 1.0]])),
    ),
)


# --- matching --------------------------------------------------------------------------------


@op("_contrib_bipartite_matching", aliases=("_npx_bipartite_matching",), outputs="output0 output1")
class BipartiteMatching:
    """Match rows and columns of scores (..., rows, columns), the best pairs first.

    Pairs scored below `threshold` (above it, with `is_ascend`) are not matched; after more than
    `topk` pairs, if positive, no others are. Returns the column of each row (..., rows) and the row
    of each column (..., columns), -1 where there is none. No gradient flows.
    """

    is_ascend: Bool = False
    threshold: Float
    topk: Int = -1

    grad = stop
    samples = (
        sample(values(0, 1, (3, 2)), threshold=1e-12, grad=False),
        sample(values(0, 1, (2, 3, 4)), threshold=0.4, is_ascend=True, topk=2, grad=False),
        sample((0, 2), threshold=0.4, grad=False),
    )

    def infer(a, data):
        require_float(data, "data")
        if data.shape is None:
            return Spec(None, data.dtype), Spec(None, data.dtype)
        require(data.ndim >= 2, f"data: expected shape (..., rows, columns), got {data.shape}")
        *batch, rows, columns = data.shape
        return Spec((*batch, rows), data.dtype), Spec((*batch, columns), data.dtype)

    def ref(a, xp, data):
        *batch, rows, columns = data.shape
        scores = data.reshape(math.prod(batch), rows * columns)
        partner = xp.full((len(scores), rows), -1, data.dtype)
        owner = xp.full((len(scores), columns), -1, data.dtype)
        for number, score in enumerate(scores):
            _match(a, xp, score, columns, partner[number], owner[number])
        return partner.reshape(*batch, rows), owner.reshape(*batch, columns)


def _match(a, xp, score, columns, partner, owner):
    """Fill in the partners for one sample."""
    count = 0
    for place in xp.argsort(score if a.is_ascend else -score, kind="stable"):
        if score[place] > a.threshold if a.is_ascend else score[place] < a.threshold:
            return
        row, column = divmod(int(place), columns)
        if partner[row] == -1 and owner[column] == -1:
            partner[row], owner[column] = column, row
            count += 1
            if 0 < a.topk < count:  # one more than its name says, as in MXNet
                return


# --- offsets ---------------------------------------------------------------------------------


def _encode_params(a, ins, outs):
    batch, count = ins[2].shape[:2]
    return {
        "batch": batch,
        "boxes": count,
        "refs": ins[3].shape[1],
        "shared": 0,
        "center": 0,
        "clip": 0,
        "stds": (),
    }


def _not_encoded(a, ins, outs):
    samples, matches, anchors, refs = (spec.shape for spec in ins[:4])
    if len({spec.dtype for spec in ins}) > 1:
        return "the types differ"
    whole = len(refs) == 3 and anchors == (refs[0], *samples[1:], 4) and samples == matches
    return None if whole and len(anchors) == 3 else "no batch of boxes"


def _decode_params(a, ins, outs):
    batch, count, _ = ins[0].shape
    return {
        "batch": batch,
        "boxes": count,
        "refs": 0,
        "shared": ins[1].shape[0] == 1,
        "center": a.format == "center",
        "clip": a.clip,
        "stds": (a.std0, a.std1, a.std2, a.std3),
    }


def _not_decoded(a, ins, outs):
    data, anchors = ins[0].shape, ins[1].shape
    fits = len(data) == 3 and anchors in (data, (1, *data[1:]))
    return None if fits else "no batch of boxes"


@op(
    "_contrib_box_encode",
    aliases=("_npx_box_encode",),
    inputs="samples matches anchors refs means stds",
    outputs="output0 output1",
    amp="widest",
)
class BoxEncode:
    """Offsets of matched boxes from anchors, in units of the anchors' sizes, as training targets.

    Shapes: samples (batch, n), positive where an anchor counts; matches (batch, n), the number of
    its box; anchors (batch, n, 4) and refs (batch, m, 4) as corners; means and stds (4,) normalise.
    Returns targets and masks, both (batch, n, 4), zero where an anchor does not count. No gradient
    flows.
    """

    grad = stop
    kernels = (
        native(
            "box_encode",
            struct=BOX_CODE,
            params=_encode_params,
            when=_not_encoded,
            work=lambda a, ins, outs: 8 * outs[0].size,
        ),
    )
    samples = (
        sample(
            lambda rng: rng.choice([-1.0, 0.0, 1.0], (2, 4)),
            lambda rng: rng.integers(0, 3, (2, 4)) * 1.0,
            _random_boxes(2, 4),
            _random_boxes(2, 3),
            (4,),
            values(0.1, 1, (4,)),
            grad=False,
        ),
    )

    def infer(a, samples, matches, anchors, refs, means, stds):
        dtype = same_dtype((anchors, refs), ("anchors", "refs"))
        anchors.fill("anchors", (-1, -1, 4))
        refs.fill("refs", (anchors.shape[0], -1, 4))
        for spec, name in ((samples, "samples"), (matches, "matches")):
            spec.fill(name, anchors.shape[:2])
        means.fill("means", (4,))
        stds.fill("stds", (4,))
        return Spec(anchors.shape, dtype), Spec(anchors.shape, dtype)

    def ref(a, xp, samples, matches, anchors, refs, means, stds):
        counts = (samples > 0.5)[..., None]
        batch = xp.arange(len(refs))[:, None]
        boxes = _centers(xp, refs[batch, matches.astype("int64")])
        base = _centers(xp, anchors)
        offsets = (boxes[..., :2] - base[..., :2]) / base[..., 2:]
        sizes = xp.log(boxes[..., 2:] / base[..., 2:])
        targets = (xp.concatenate([offsets, sizes], axis=-1) - means) / stds
        mask = xp.broadcast_to(counts, targets.shape).astype(anchors.dtype)
        return xp.where(counts, targets, 0).astype(anchors.dtype), mask


@op("_contrib_box_decode", aliases=("_npx_box_decode",), inputs="data anchors", amp="widest")
class BoxDecode:
    """Boxes from predicted offsets and anchors: the inverse of box_encode.

    Shapes: data (batch, n, 4); anchors (1, n, 4) in `format`; out (batch, n, 4) as corners. The
    offsets are multiplied by `std0` ... `std3`, those of sizes are at most `clip` if that is
    positive. No gradient flows.
    """

    std0: Float = 1.0
    std1: Float = 1.0
    std2: Float = 1.0
    std3: Float = 1.0
    clip: Float = -1.0
    format: _Format = "center"

    grad = stop
    kernels = (
        native(
            "box_decode",
            struct=BOX_CODE,
            params=_decode_params,
            when=_not_decoded,
            work=lambda a, ins, outs: 8 * outs[0].size,
        ),
    )
    samples = (
        sample((2, 3, 4), values(0.1, 1, (1, 3, 4)), std0=0.1, std2=0.2, grad=False),
        sample((2, 3, 4), _random_boxes(1, 3), clip=0.1, format="corner", grad=False),
    )

    def infer(a, data, anchors):
        dtype = same_dtype((data, anchors), ("data", "anchors"))
        data.fill("data", (-1, -1, 4))
        anchors.fill("anchors", (-1, data.shape[1], 4))
        shared = anchors.shape[0] in (-1, 1, data.shape[0]) or data.shape[0] == -1
        require(shared, f"anchors: expected those of 1 or {data.shape[0]} images, got {anchors}")
        return Spec(data.shape, dtype)

    def ref(a, xp, data, anchors):
        base = anchors if a.format == "center" else _centers(xp, anchors)
        stds = xp.array([a.std0, a.std1, a.std2, a.std3], data.dtype)
        moved = data * stds
        places = moved[..., :2] * base[..., 2:] + base[..., :2]
        sizes = moved[..., 2:]
        if a.clip > 0:
            sizes = xp.minimum(sizes, xp.asarray(a.clip, data.dtype))
        return corners(xp, xp.concatenate([places, xp.exp(sizes) * base[..., 2:]], axis=-1))
