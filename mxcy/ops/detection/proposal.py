"""Region proposals from a network's predictions for anchors.

Definition: Ren et al. (2015), Faster R-CNN. Coordinates are in pixels, and a box from pixel x1 to
pixel x2 is ``x2 - x1 + 1`` wide.
"""

import numpy as np

from mxcy.ops.core.attrs import Bool, Field, Float, FloatTuple, Int
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, require, same_dtype
from mxcy.ops.core.params import PROPOSAL
from mxcy.ops.core.record import native, register, sample, stop
from mxcy.ops.norm.batch import require_float

__all__ = ["shifted_anchors"]

_MOST = 64  # most anchors per position that the kernel supports


def _anchors(a, xp, dtype):
    """Return the anchors of all ratios and scales at the first position: (anchors, 4)."""
    size, anchors = a.feature_stride, []
    centre = 0.5 * (size - 1)
    for ratio in a.ratios:
        width = xp.floor(xp.sqrt(xp.floor(size * size / ratio)) + 0.5)
        height = xp.floor(width * ratio + 0.5)
        for scale in a.scales:
            half = 0.5 * (xp.array([width * scale, height * scale]) - 1)
            anchors.append(xp.concatenate([centre - half, centre + half]))
    return xp.stack(anchors).astype(dtype)


def shifted_anchors(a, xp, height, width, dtype):
    """Return the anchors of all positions: (height * width * anchors, 4)."""
    y, x = xp.indices((height, width), dtype).reshape(2, -1) * a.feature_stride
    return (xp.stack([x, y, x, y], 1)[:, None] + _anchors(a, xp, dtype)).reshape(-1, 4)


def _moved(a, xp, boxes, deltas):
    """Apply predicted deltas to boxes."""
    if a.iou_loss:  # corners
        return boxes + deltas
    size = boxes[:, 2:] - boxes[:, :2] + 1
    centre = boxes[:, :2] + 0.5 * (size - 1)
    half = 0.5 * (xp.exp(deltas[:, 2:]) * size - 1)
    centre = deltas[:, :2] * size + centre
    return xp.concatenate([centre - half, centre + half], 1)


def _candidates(a, xp, scores, deltas, info):
    """Return all candidate boxes (n, 4) of an image, and their scores."""
    anchors, height, width = scores.shape
    boxes = shifted_anchors(a, xp, height, width, scores.dtype)
    boxes = _moved(a, xp, boxes, deltas.reshape(anchors, 4, -1).transpose(2, 0, 1).reshape(-1, 4))
    image_height, image_width = info[:2]
    largest = xp.stack([image_width, image_height, image_width, image_height]) - 1
    boxes = xp.clip(boxes, 0, largest).astype(scores.dtype)
    scores = scores.transpose(1, 2, 0).reshape(-1).copy()
    # Positions in the padding of a batch of images are excluded.
    rows, columns = (int(extent / a.feature_stride) for extent in (image_height, image_width))
    y, x = xp.indices((height, width)).reshape(2, -1).repeat(anchors, 1)
    scores[(y >= rows) | (x >= columns)] = -1
    least = a.rpn_min_size * info[2]
    small = (boxes[:, 2:] - boxes[:, :2] + 1 < least).any(1)
    grown = xp.array([-0.5, -0.5, 0.5, 0.5], boxes.dtype) * least
    scores[small] = -1
    return xp.where(small[:, None], boxes + grown, boxes), scores


def _kept(a, xp, boxes, most):
    """Return the indices of at most `most` boxes that no better one suppresses."""
    areas = (boxes[:, 2:] - boxes[:, :2] + 1).prod(1)
    alive, kept = xp.arange(len(boxes)), []
    while len(alive) and len(kept) < most:
        first, alive = alive[0], alive[1:]
        kept.append(first)
        low = xp.maximum(boxes[first, :2], boxes[alive, :2])
        high = xp.minimum(boxes[first, 2:], boxes[alive, 2:])
        shared = xp.maximum(high - low + 1, 0).prod(1)
        alive = alive[~(shared / (areas[first] + areas[alive] - shared) > a.threshold)]
    return xp.array(kept, "int64")


def _propose(a, xp, scores, boxes):
    """Return the proposals of one image, and their scores."""
    order = xp.argsort(-scores, kind="stable")
    if a.rpn_pre_nms_top_n > 0:
        order = order[: a.rpn_pre_nms_top_n]
    kept = order[_kept(a, xp, boxes[order], min(a.rpn_post_nms_top_n, len(order)))]
    kept = xp.resize(kept, a.rpn_post_nms_top_n)  # repeated to fill the output
    return boxes[kept], scores[kept]


def _ref(a, xp, cls_prob, bbox_pred, im_info):
    proposals = []
    anchors = cls_prob.shape[1] // 2
    for number, (prob, deltas, info) in enumerate(zip(cls_prob, bbox_pred, im_info, strict=True)):
        boxes, scores = _candidates(a, xp, prob[anchors:], deltas, info)
        boxes, scores = _propose(a, xp, scores, boxes)
        image = xp.full((len(boxes), 1), number, boxes.dtype)
        proposals.append((xp.concatenate([image, boxes], 1), scores[:, None]))
    rois, scores = zip(*proposals, strict=True)
    return xp.concatenate(rois), xp.concatenate(scores)


def _infer(a, cls_prob, bbox_pred, im_info, single):
    names = ("cls_prob", "bbox_pred", "im_info")
    dtype = same_dtype((cls_prob, bbox_pred, im_info), names)
    require_float(cls_prob, "cls_prob")
    anchors = len(a.scales) * len(a.ratios)
    for name in ("rpn_post_nms_top_n", "feature_stride"):
        require(getattr(a, name) > 0, f"{name}: expected a positive number")
    require(anchors > 0, "scales, ratios: expected at least one number")
    require(min(a.ratios) > 0, f"ratios: expected positive numbers, got {a.ratios}")
    cls_prob.fill("cls_prob", (1 if single else -1, 2 * anchors, -1, -1))
    bbox_pred.fill("bbox_pred", (cls_prob.shape[0], 4 * anchors, *cls_prob.shape[2:]))
    im_info.fill("im_info", (cls_prob.shape[0], 3))
    batch = cls_prob.shape[0]
    count = -1 if batch == -1 else batch * a.rpn_post_nms_top_n
    return Spec((count, 5), dtype), Spec((count, 1), dtype)


def _params(a, ins, outs):
    batch, _, height, width = ins[0].shape
    return {
        "batch": batch,
        "anchors": len(a.scales) * len(a.ratios),
        "height": height,
        "width": width,
        "stride": a.feature_stride,
        "before": a.rpn_pre_nms_top_n,
        "after": a.rpn_post_nms_top_n,
        "least": a.rpn_min_size,
        "corners": a.iou_loss,
        "overlap": a.threshold,
        "boxes": tuple(_anchors(a, np, "float64").reshape(-1).tolist()),
    }


def _refuse(a, ins, outs):
    if len(a.scales) * len(a.ratios) > _MOST:
        return f"more than {_MOST} anchors"
    return None if ins[0].size else "no places"


def _work(a, ins, outs):
    return ins[0].size * 64 + a.rpn_post_nms_top_n * max(a.rpn_pre_nms_top_n, 0) // 8


def _image_info(rng):
    return np.array([[60.0, 80.0, 1.0]])


_DOC = """Propose regions of {images} that may contain objects, best first.

Each position of the feature map, `feature_stride` pixels apart, has anchors of all `ratios` and
`scales`. Predicted deltas are applied, boxes are clipped to the image and sorted by score; boxes
smaller than `rpn_min_size` times the image's scale come last. Of the best `rpn_pre_nms_top_n`,
those that overlap a better one by more than `threshold` are suppressed, and the first
`rpn_post_nms_top_n` are returned, repeated if there are fewer.

Shapes: cls_prob (batch, 2 * anchors, rows, columns), the scores of background and of objects;
bbox_pred (batch, 4 * anchors, rows, columns), deltas of centre and log size, or of corners with
`iou_loss`; im_info (batch, 3), height, width and scale. {batch}Returns regions (batch *
rpn_post_nms_top_n, 5), (image index, left, top, right, bottom), and with `output_score`
their scores (..., 1). No gradient flows."""

_FIELDS = (
    Field("rpn_pre_nms_top_n", Int, 6000),
    Field("rpn_post_nms_top_n", Int, 300),
    Field("threshold", Float, 0.699999988),
    Field("rpn_min_size", Int, 16),
    Field("scales", FloatTuple, (4.0, 8.0, 16.0, 32.0)),
    Field("ratios", FloatTuple, (0.5, 1.0, 2.0)),
    Field("feature_stride", Int, 16),
    Field("output_score", Bool, False),
    Field("iou_loss", Bool, False),
)


def _samples(batch):
    info = lambda rng: np.repeat(_image_info(rng), batch, 0)  # noqa: E731
    prob = lambda rng: rng.permutation(batch * 8 * 20).reshape(batch, 8, 4, 5) / (batch * 160)  # noqa: E731
    attrs = {"scales": (1, 2), "ratios": (0.5, 2), "rpn_post_nms_top_n": 6, "rpn_min_size": 4}
    yield sample(prob, (batch, 16, 4, 5), info, grad=False, output_score=True, **attrs)
    yield sample(
        prob, (batch, 16, 4, 5), info, grad=False, iou_loss=True, rpn_pre_nms_top_n=4, **attrs
    )


for _name, _images, _batch, _count in (
    ("Proposal", "an image", "The batch is one image. ", 1),
    ("MultiProposal", "images", "", 2),
):
    register(
        f"_contrib_{_name}",
        doc=_DOC.format(images=_images, batch=_batch),
        inputs="cls_prob bbox_pred im_info",
        outputs="output score",
        visible=lambda a: 2 if a.output_score else 1,
        amp="widest",
        in_symbols=InSymbols(named=True),
        fields=_FIELDS,
        infer=(
            lambda a, cls_prob, bbox_pred, im_info, single=_count == 1: _infer(
                a, cls_prob, bbox_pred, im_info, single
            )
        ),
        grad=stop,
        ref=_ref,
        kernels=(native("proposal", struct=PROPOSAL, params=_params, when=_refuse, work=_work),),
        samples=tuple(_samples(_count)),
    )
