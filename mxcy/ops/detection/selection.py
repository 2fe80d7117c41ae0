"""Which boxes remain where each suppresses those that it overlaps, as positions."""

import numpy as np

from mxcy._base import dtypes
from mxcy.ops.core.attrs import Bool
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.record import op, sample, values

__all__ = ["remaining"]

_INT64 = dtypes.CODES["int64"]


def _ordered(boxes, centred):
    """Corners with the lower numbers first, whichever way round they came."""
    if centred:
        half = boxes[:, 2:] / 2
        return np.concatenate([boxes[:, :2] - half, boxes[:, :2] + half], axis=1)
    return np.concatenate(
        [np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])], axis=1
    )


def remaining(corners, scores, most, overlap, lowest):
    """The positions of the boxes that stay, the best first.

    Parameters
    ----------
    corners : numpy.ndarray
        (boxes, 4), the lower numbers first.
    scores : numpy.ndarray
        (boxes,)
    most : int
    overlap : float
        Boxes that share more with a better one go.
    lowest : float
        Boxes with scores that are not above go.
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
    """Positions (image, class, box) of the boxes that remain; it waits for the values.

    `boxes` are (images, boxes, 4), two opposite corners, or with `centred` the centre and the
    extents; `scores` are (images, classes, boxes). `most` boxes of each class remain, those that
    share more than `overlap` with a better one or have no score above `lowest` do not.
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
