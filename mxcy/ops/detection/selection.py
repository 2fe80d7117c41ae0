"""Indices of the boxes that remain after non-maximum suppression."""

import numpy as np

from mxcy._base import dtypes
from mxcy.ops.core.attrs import Bool
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.record import op, sample, values

__all__ = ["remaining"]

_INT64 = dtypes.CODES["int64"]


def _ordered(boxes, centred):
    """Return corners with the lower coordinates first."""
    if centred:
        half = boxes[:, 2:] / 2
        return np.concatenate([boxes[:, :2] - half, boxes[:, :2] + half], axis=1)
    return np.concatenate(
        [np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])], axis=1
    )


def remaining(corners, scores, most, overlap, lowest):
    """Return the indices of the remaining boxes, best first.

    Parameters
    ----------
    corners : numpy.ndarray
        (boxes, 4), lower coordinates first.
    scores : numpy.ndarray
        (boxes,)
    most : int
    overlap : float
        Boxes that overlap a better one by more are removed.
    lowest : float
        Boxes whose score is not above are removed.
    """
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] > lowest]
    areas = np.prod(corners[:, 2:] - corners[:, :2], axis=1)
    kept = []
    while len(order) and len(kept) < most:
        best, order = order[0], order[1:]
        kept.append(best)
        low = np.maximum(corners[best, :2], corners[order, :2])
        high = np.minimum(corners[best, 2:], corners[order, 2:])
        shared = np.prod(np.clip(high - low, 0, None), axis=1)
        union = areas[best] + areas[order] - shared
        ratio = np.divide(shared, union, out=np.zeros_like(union), where=union > 0)
        order = order[ratio <= overlap]
    return kept


@op("_remaining_boxes", inputs="boxes scores most overlap lowest")
class RemainingBoxes:
    """Return indices (image, class, box) of the boxes left by non-maximum suppression.

    `boxes` are (images, boxes, 4), two opposite corners, or with `centred` centre and size;
    `scores` are (images, classes, boxes). At most `most` boxes per class remain; boxes that overlap
    a better one by more than `overlap`, or whose score is not above `lowest`, are removed. The
    operator waits for the values.
    """

    centred: Bool = False

    samples = (
        sample(
            values(0, 1, (2, 6, 4)),
            values(0, 1, (2, 3, 6)),
            values(3, 4, (1,), "int64"),
            values(0, 1, (1,)),
            values(0, 0.5, (1,)),
        ),
        sample(
            values(0, 1, (1, 5, 4)),
            values(0, 1, (1, 2, 5)),
            values(9, 10, (), "int64"),
            values(0, 1, ()),
            values(0, 0.5, ()),
            centred=True,
        ),
    )

    def infer(a, boxes, scores, most, overlap, lowest):
        boxes.fill("boxes", (-1, -1, 4))
        scores.fill("scores", (boxes.shape[0], -1, boxes.shape[1]))
        for spec, name in ((most, "most"), (overlap, "overlap"), (lowest, "lowest")):
            require(spec.shape is None or spec.size == 1, f"{name}: expected a number, got {spec}")
        return Spec((-1, 3), _INT64)

    def eager(a, F, array, *inputs):
        return array(RemainingBoxes.ref(a, np, *(x.asnumpy() for x in inputs)))

    def ref(a, xp, boxes, scores, most, overlap, lowest):
        most, overlap, lowest = (x.reshape(-1)[0] for x in (most, overlap, lowest))
        triples = []
        for image, own in enumerate(boxes):
            corners = _ordered(own.astype("float64"), a.centred)
            for kind, ranks in enumerate(scores[image]):
                kept = remaining(corners, ranks, most, overlap, lowest)
                triples += [(image, kind, box) for box in kept]
        return np.array(triples, "int64").reshape(-1, 3)
