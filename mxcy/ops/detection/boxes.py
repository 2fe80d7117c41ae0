"""Bounding boxes: formats, overlaps and matching.

Box formats: ``corner`` is (left, top, right, bottom), ``center`` (x, y, width, height).
"""

import math

import numpy as np

from mxcy.ops.core.attrs import Bool, Enum, Float, Int
from mxcy.ops.core.infer import Spec, require, same_dtype
from mxcy.ops.core.params import BOX_IOU, MATCHING
from mxcy.ops.core.record import native, op, sample, stop, values
from mxcy.ops.norm.batch import require_float

__all__ = ["corners", "overlaps"]

BOX_FORMAT = Enum("center", "corner")


def corners(xp, boxes, form="center"):
    """Convert boxes (..., 4) of a format to left, top, right, bottom."""
    if form == "corner":
        return boxes
    half = boxes[..., 2:] * 0.5
    return xp.concatenate([boxes[..., :2] - half, boxes[..., :2] + half], axis=-1)


def centers(xp, boxes):
    """Convert corner boxes (..., 4) to x, y, width, height."""
    size = boxes[..., 2:] - boxes[..., :2]
    return xp.concatenate([boxes[..., :2] + 0.5 * size, size], axis=-1)


def overlaps(xp, lhs, rhs):
    """Compute the intersection over union of corner boxes, broadcasting leading dimensions."""
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


def random_boxes(*shape):
    """Return a sample input: non-empty corner boxes."""

    def draw(rng):
        low = rng.uniform(0, 0.6, (*shape, 2))
        return np.concatenate([low, low + rng.uniform(0.1, 0.5, (*shape, 2))], axis=-1)

    return draw


@op("_contrib_box_iou", aliases=("_npx_box_iou",), inputs="lhs rhs", amp="widest")
class BoxIou:
    """Compute the pairwise intersection over union (IoU) of two arrays of boxes.

    Shapes: lhs (a..., 4), rhs (b..., 4), out (a..., b...). No gradient flows.
    """

    format: BOX_FORMAT = "corner"

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
        sample(random_boxes(5), random_boxes(2, 3), grad=False),
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


# --- matching --------------------------------------------------------------------------------


def _matching_params(a, ins, outs):
    *batch, rows, columns = ins[0].shape
    return {
        "batch": math.prod(batch),
        "rows": rows,
        "columns": columns,
        "top": a.topk,
        "ascending": a.is_ascend,
        "threshold": a.threshold,
    }


@op("_contrib_bipartite_matching", aliases=("_npx_bipartite_matching",), outputs="output0 output1")
class BipartiteMatching:
    """Match rows and columns of scores (..., rows, columns) greedily, best pairs first.

    Pairs scored below `threshold` (above it with `is_ascend`) are not matched; with a positive
    `topk`, matching stops after ``topk + 1`` pairs, as in MXNet. Returns the column of each row
    (..., rows) and the row of each column (..., columns), -1 if unmatched. No gradient flows.
    """

    is_ascend: Bool = False
    threshold: Float
    topk: Int = -1

    grad = stop
    kernels = (
        native(
            "bipartite_matching",
            struct=MATCHING,
            params=_matching_params,
            when=lambda a, ins, outs: "many scores" if ins[0].size >= 1 << 31 else None,
            work=lambda a, ins, outs: 64 * ins[0].size,
        ),
    )
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
    """Match one sample, filling in `partner` and `owner`."""
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
