"""Single-shot detection: anchors, training targets and detections.

Definition: Liu et al. (2016), SSD. Boxes are (left, top, right, bottom), relative to the image.
"""

import math

import numpy as np

from mxcy.ops.core.attrs import Bool, Float, FloatTuple, Int
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, require, same_dtype
from mxcy.ops.core.params import DETECTION, PRIOR, TARGET
from mxcy.ops.core.record import native, op, sample, stop, values
from mxcy.ops.detection.boxes import overlaps
from mxcy.ops.norm.batch import require_float

__all__ = []


def _four(a):
    require(len(a.variances) == 4, f"variances: expected four numbers, got {a.variances}")


def _steps(a, extents):
    """Return the distance of positions, (y, x)."""
    return [s if s > 0 else 1 / n for s, n in zip(a.steps, extents, strict=True)]


def _halves(a, extents):
    """Return half the width and height of each anchor at a position."""
    height, width = extents
    shapes = [(size, a.ratios[0]) for size in a.sizes]
    shapes += [(a.sizes[0], ratio) for ratio in a.ratios[1:]]
    return [
        (size * height / width * math.sqrt(ratio) / 2, size / math.sqrt(ratio) / 2)
        for size, ratio in shapes
    ]


def _prior_params(a, ins, outs):
    height, width = extents = ins[0].shape[2:]
    halves = _halves(a, extents)
    return {
        "height": height,
        "width": width,
        "shapes": len(halves),
        "clip": a.clip,
        "steps": _steps(a, extents),
        "offsets": a.offsets,
        "halves": [number for pair in halves for number in pair],
    }


def _not_prior(a, ins, outs):
    if 0 in outs[0].shape:
        return "no positions"
    return "more than 64 shapes" if len(a.sizes) + len(a.ratios) > 65 else None


@op(
    "_contrib_MultiBoxPrior", aliases=("_npx_multibox_prior",), ignores=("data",), amp="fp32/widest"
)
class MultiBoxPrior:
    """Generate anchor boxes of several sizes and aspect ratios at each feature map position.

    Each position has one anchor per size with the first ratio (width : height), and one per further
    ratio with the first size. Positions are `steps` apart (evenly spaced by default) and lie at
    `offsets` within a step; both are (y, x).

    Shapes: data (batch, channels, height, width), of which only the extents matter; out (1, height
    * width * (sizes + ratios - 1), 4). No gradient flows.
    """

    sizes: FloatTuple = (1.0,)
    ratios: FloatTuple = (1.0,)
    clip: Bool = False
    steps: FloatTuple = (-1.0, -1.0)
    offsets: FloatTuple = (0.5, 0.5)

    grad = stop
    kernels = (native("multibox_prior", struct=PRIOR, params=_prior_params, when=_not_prior),)
    samples = (
        sample((1, 2, 3, 4), sizes=(0.5, 0.3), ratios=(1, 2, 0.5), grad=False),
        sample((1, 2, 2, 2), clip=True, steps=(0.4, 0.3), offsets=(0.1, 0.9), grad=False),
    )

    def infer(a, data):
        require_float(data, "data")
        require(len(a.sizes) > 0 and len(a.ratios) > 0, "sizes and ratios: give one or more")
        require(min(a.ratios) > 0, f"ratios: expected positive numbers, got {a.ratios}")
        require(len(a.steps) == 2 and len(a.offsets) == 2, "steps and offsets: give (y, x)")
        data.fill("data", (-1, -1, -1, -1))
        height, width = data.shape[2:]
        each = len(a.sizes) + len(a.ratios) - 1
        count = -1 if -1 in (height, width) else height * width * each
        return Spec((1, count, 4), data.dtype)

    def ref(a, xp, data):
        height, width = extents = data.shape[2:]
        steps = _steps(a, extents)
        y = (xp.arange(height) + a.offsets[0]) * steps[0]
        x = (xp.arange(width) + a.offsets[1]) * steps[1]
        halves = xp.array(_halves(a, extents))
        centers = xp.stack(xp.broadcast_arrays(x, y[:, None]), axis=-1)[:, :, None]
        boxes = xp.concatenate([centers - halves, centers + halves], axis=-1).reshape(1, -1, 4)
        boxes = xp.clip(boxes, 0, 1) if a.clip else boxes
        return boxes.astype(data.dtype)


# --- targets ---------------------------------------------------------------------------------


def _matches(a, xp, anchors, boxes):
    """Return the box of each anchor, -1 if unmatched, and each anchor's best overlap."""
    shared = overlaps(xp, anchors[:, None], boxes[None])
    matched = xp.full(len(anchors), -1)
    best = shared.max(1)
    remaining = shared.copy()
    for _ in range(len(boxes)):  # first, each box takes the anchor with the best overlap
        place = int(remaining.argmax())
        anchor, box = divmod(place, len(boxes))
        if remaining[anchor, box] <= 1e-6:
            break
        matched[anchor] = box
        remaining[anchor], remaining[:, box] = -1, -1
    if a.overlap_threshold > 0:
        also = (matched < 0) & (best > a.overlap_threshold)
        matched[also] = shared[also].argmax(1)
    return matched, best


def _encoded(xp, anchors, boxes, variances):
    """Encode boxes as offsets from anchors."""
    size, box_size = anchors[:, 2:] - anchors[:, :2], boxes[:, 2:] - boxes[:, :2]
    center, box_center = (anchors[:, :2] + anchors[:, 2:]) / 2, (boxes[:, :2] + boxes[:, 2:]) / 2
    offsets = (box_center - center) / size
    return xp.concatenate([offsets, xp.log(box_size / size)], axis=1) / xp.array(variances)


def _negatives(a, xp, matched, best, scores):
    """Return the anchors to train as background."""
    positive = matched >= 0
    if a.negative_mining_ratio <= 0:
        return ~positive
    wanted = int(positive.sum() * a.negative_mining_ratio)
    wanted = min(wanted, int((~positive).sum()))
    candidates = xp.flatnonzero(~positive & (best < a.negative_mining_thresh))
    # Hardest first: those least likely to be background.
    shifted = xp.exp(scores - scores.max(0))
    background = (shifted[0] / shifted.sum(0))[candidates]
    chosen = candidates[xp.argsort(background, kind="stable")[:wanted]]
    negative = xp.zeros(len(matched), bool)
    negative[chosen] = True
    return negative


def _labels(rng):
    label = np.full((2, 3, 5), -1.0)
    label[0, 0], label[0, 1], label[1, 0] = (
        (1, 0.1, 0.1, 0.5, 0.6),
        (0, 0.5, 0.4, 0.9, 1),
        (0, 0.3, 0.2, 0.7, 0.9),
    )
    return label


def _anchors(rng):
    low = rng.uniform(0, 0.6, (1, 8, 2))
    return np.concatenate([low, low + rng.uniform(0.1, 0.5, (1, 8, 2))], axis=-1)


def _target_params(a, ins, outs):
    anchor, label, cls_pred = ins
    return {
        "batch": label.shape[0],
        "anchors": anchor.shape[1],
        "boxes": label.shape[1],
        "width": label.shape[2],
        "classes": cls_pred.shape[1],
        "threshold": a.overlap_threshold,
        "ignore": a.ignore_label,
        "mining_ratio": a.negative_mining_ratio,
        "mining_threshold": a.negative_mining_thresh,
        "variances": a.variances,
    }


def _target_work(a, ins, outs):
    anchor, label, cls_pred = ins
    mining = cls_pred.size if a.negative_mining_ratio > 0 else 0
    return label.shape[0] * anchor.shape[1] * (16 + label.shape[1]) + 4 * mining


@op(
    "_contrib_MultiBoxTarget",
    aliases=("_npx_multibox_target",),
    inputs="anchor label cls_pred",
    outputs="loc_target loc_mask cls_target",
    in_symbols=InSymbols(named=True),
    amp="fp32/widest",
)
class MultiBoxTarget:
    """Compute the training targets of a single-shot detector from labelled boxes.

    Each box is matched with the anchor of largest overlap, and with all anchors that it overlaps by
    more than `overlap_threshold`. Unmatched anchors are background; `negative_mining_ratio` limits
    these to a multiple of the matched ones, choosing the worst predicted among those overlapping
    less than `negative_mining_thresh` (`minimum_negative_samples` is ignored, as in MXNet). Others,
    and all anchors of images without boxes, get `ignore_label`.

    Shapes: anchor (1, anchors, 4); label (batch, boxes, 5 or more) with rows of (class, box),
    padded with -1; cls_pred (batch, classes + 1, anchors). Returns offsets and their
    masks, both (batch, anchors * 4), and classes from 1 on, 0 for background, (batch, anchors). No
    gradient flows.
    """

    overlap_threshold: Float = 0.5
    ignore_label: Float = -1.0
    negative_mining_ratio: Float = -1.0
    negative_mining_thresh: Float = 0.5
    minimum_negative_samples: Int = 0
    variances: FloatTuple = (0.1, 0.1, 0.2, 0.2)

    grad = stop
    kernels = (
        native(
            "multibox_target",
            struct=TARGET,
            params=_target_params,
            work=_target_work,
            when=lambda a, ins, outs: None if ins[2].shape[1] else "no classes",
        ),
    )
    samples = (
        sample(_anchors, _labels, (2, 3, 8), grad=False),
        sample(_anchors, _labels, (2, 3, 8), negative_mining_ratio=2.0, grad=False),
    )

    def infer(a, anchor, label, cls_pred):
        dtype = same_dtype((anchor, label, cls_pred), ("anchor", "label", "cls_pred"))
        _four(a)
        anchor.fill("anchor", (1, -1, 4))
        label.fill("label", (-1, -1, -1))
        count = anchor.shape[1]
        cls_pred.fill("cls_pred", (label.shape[0], -1, count))
        width = label.shape[2]
        require(width == -1 or width >= 5, f"label: expected rows of 5 or more, got {label.shape}")
        batch = cls_pred.shape[0]
        offsets = (batch, -1 if count == -1 else 4 * count)
        return Spec(offsets, dtype), Spec(offsets, dtype), Spec((batch, count), dtype)

    def ref(a, xp, anchor, label, cls_pred):
        anchors, batch = anchor[0], len(label)
        count = len(anchors)
        offsets = xp.zeros((batch, count, 4), anchor.dtype)
        mask = xp.zeros((batch, count, 4), anchor.dtype)
        classes = xp.full((batch, count), a.ignore_label, anchor.dtype)
        for number, rows in enumerate(label):
            unused = xp.flatnonzero(rows[:, 0] == -1)
            rows = rows[: unused[0]] if len(unused) else rows
            if len(rows) == 0:
                continue
            matched, best = _matches(a, xp, anchors, rows[:, 1:5])
            positive = matched >= 0
            boxes = rows[matched[positive]]
            offsets[number, positive] = _encoded(xp, anchors[positive], boxes[:, 1:5], a.variances)
            mask[number, positive] = 1
            classes[number, positive] = boxes[:, 0] + 1
            classes[number, _negatives(a, xp, matched, best, cls_pred[number])] = 0
        return offsets.reshape(batch, -1), mask.reshape(batch, -1), classes


# --- detections ------------------------------------------------------------------------------


def _decoded(a, xp, anchors, offsets):
    """Decode predicted offsets (n, 4) relative to anchors (n, 4)."""
    size, center = anchors[:, 2:] - anchors[:, :2], (anchors[:, :2] + anchors[:, 2:]) / 2
    offsets = offsets * xp.array(a.variances, offsets.dtype)
    center = offsets[:, :2] * size + center
    half = xp.exp(offsets[:, 2:]) * size / 2
    boxes = xp.concatenate([center - half, center + half], axis=1)
    return xp.clip(boxes, 0, 1) if a.clip else boxes


def _suppress(a, xp, rows):
    """Mark rows (class, score, box), by descending score, that a better one suppresses."""
    for number in range(len(rows)):
        if rows[number, 0] < 0:
            continue
        later = rows[number + 1 :]
        hit = overlaps(xp, rows[number, 2:], later[:, 2:]) >= a.nms_threshold
        if not a.force_suppress:
            hit &= later[:, 0] == rows[number, 0]
        later[hit, 0] = -1


def _params(a, ins, outs):
    batch, classes, anchors = ins[0].shape
    return {
        "batch": batch,
        "classes": classes,
        "anchors": anchors,
        "background": a.background_id,
        "top": a.nms_topk,
        "clip": a.clip,
        "force": a.force_suppress,
        "threshold": a.threshold,
        "overlap": a.nms_threshold,
        "variances": a.variances,
    }


def _work(a, ins, outs):
    batch, classes, anchors = ins[0].shape
    top = min(anchors, a.nms_topk) if a.nms_topk > 0 else anchors
    return batch * (anchors * (64 + classes // 8) + top * top // 8)


@op(
    "_contrib_MultiBoxDetection",
    aliases=("_npx_multibox_detection",),
    inputs="cls_prob loc_pred anchor",
    amp="fp32/widest",
)
class MultiBoxDetection:
    """Decode a single-shot detector's predictions to boxes, with non-maximum suppression.

    Each anchor yields its most probable class other than `background_id`, unless the probability is
    below `threshold`; among the best `nms_topk` (all by default), boxes that overlap a better one
    (of their class, unless `force_suppress`) by `nms_threshold` or more are suppressed.

    Shapes: cls_prob (batch, classes + 1, anchors), loc_pred (batch, anchors * 4), anchor (1,
    anchors, 4); out (batch, anchors, 6) with rows of (class, score, box) by descending score. The
    class is -1 for suppressed rows, and unused rows at the end are all -1. No gradient flows.
    """

    clip: Bool = True
    threshold: Float = 0.00999999978
    background_id: Int = 0
    nms_threshold: Float = 0.5
    force_suppress: Bool = False
    variances: FloatTuple = (0.1, 0.1, 0.2, 0.2)
    nms_topk: Int = -1

    grad = stop
    kernels = (
        native(
            "multibox_detection",
            struct=DETECTION,
            params=_params,
            work=_work,
            when=lambda a, ins, outs: None if ins[0].shape[1] else "no classes",
        ),
    )
    samples = (
        sample(values(0, 1, (2, 3, 8)), (2, 32), _anchors, nms_threshold=0.3, grad=False),
        sample(
            values(0, 1, (1, 4, 8)),
            (1, 32),
            _anchors,
            threshold=0.6,
            force_suppress=True,
            nms_topk=4,
            clip=False,
            grad=False,
        ),
    )

    def infer(a, cls_prob, loc_pred, anchor):
        dtype = same_dtype((cls_prob, loc_pred, anchor), ("cls_prob", "loc_pred", "anchor"))
        _four(a)
        cls_prob.fill("cls_prob", (-1, -1, -1))
        batch, _, count = cls_prob.shape
        anchor.fill("anchor", (1, count, 4))
        loc_pred.fill("loc_pred", (batch, -1 if count == -1 else 4 * count))
        return Spec((batch, count, 6), dtype)

    def ref(a, xp, cls_prob, loc_pred, anchor):
        batch, classes, count = cls_prob.shape
        out = xp.full((batch, count, 6), -1, cls_prob.dtype)
        for number in range(batch):
            scores = cls_prob[number].copy()
            scores[a.background_id] = -1
            kind, score = scores.argmax(0), scores.max(0)
            kept = xp.flatnonzero(score >= a.threshold)
            boxes = _decoded(a, xp, anchor[0], loc_pred[number].reshape(-1, 4))
            best = kept[xp.argsort(-score[kept], kind="stable")]
            if a.nms_topk > 0:  # the others are not sorted, as in MXNet
                best = xp.concatenate([best[: a.nms_topk], kept[a.nms_topk :]])
            kept = best
            # Classes count from 0 without the background.
            kind = kind - (kind > a.background_id)
            rows = out[number, : len(kept)]
            rows[:, 0], rows[:, 1], rows[:, 2:] = kind[kept], score[kept], boxes[kept]
            if a.nms_topk > 0:
                rows[a.nms_topk :, 0] = -1
            if 0 < a.nms_threshold <= 1:
                _suppress(a, xp, rows)
        return out
