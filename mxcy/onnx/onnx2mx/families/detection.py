"""Detection: boxes and regions."""

import numpy as np

from mxcy.onnx.onnx2mx.table import row

__all__ = []


@row("MaxRoiPool")
def max_roi_pool(F, a, x, rois):
    return F("ROIPooling", x, rois, pooled_size=a.pooled_shape, spatial_scale=a.spatial_scale)


@row("RoiAlign", since=10)
def roi_align(F, a, x, rois, batches):
    if a.mode != "avg":
        raise NotImplementedError(f"attribute mode: {a.mode!r} is not implemented")
    aligned = (a.coordinate_transformation_mode or "output_half_pixel") == "half_pixel"
    numbers = batches.astype(x.dtype).reshape(-1, 1)
    return F(
        "_contrib_ROIAlign",
        x,
        F.concat([numbers, rois], 1),
        pooled_size=(a.output_height, a.output_width),
        spatial_scale=a.spatial_scale,
        sample_ratio=a.sampling_ratio or -1,
        aligned=aligned,
    )


def _corners(boxes, centred):
    if centred:
        x, y, w, h = boxes.T
        return np.stack([y - h / 2, x - w / 2, y + h / 2, x + w / 2], 1)
    low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
    return np.concatenate([low, high], 1)


def _kept(boxes, scores, most, overlap, lowest):
    """The numbers of the boxes that stay, the best first."""
    order = np.argsort(-scores, kind="stable")
    if lowest is not None:
        order = order[scores[order] > lowest]
    areas = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    found = []
    while len(order) and len(found) < most:
        best, order = order[0], order[1:]
        found.append(best)
        low = np.maximum(boxes[best, :2], boxes[order, :2])
        high = np.minimum(boxes[best, 2:], boxes[order, 2:])
        common = np.prod(np.clip(high - low, 0, None), axis=1)
        union = areas[best] + areas[order] - common
        ratio = np.divide(common, union, out=np.zeros_like(union), where=union > 0)
        order = order[ratio <= overlap]
    return found


@row("NonMaxSuppression", since=10)
def non_max_suppression(F, a, boxes, scores, most=None, overlap=None, lowest=None):
    boxes, scores = boxes.numbers("the input boxes"), scores.numbers("the input scores")

    def number(value, name, usual):
        return usual if value is None else value.numbers(f"the input {name}").reshape(-1)[0]

    most = int(number(most, "max_output_boxes_per_class", 0))
    overlap = float(number(overlap, "iou_threshold", 0))
    lowest = number(lowest, "score_threshold", None)
    found = []
    for image, own in enumerate(boxes):
        corners = _corners(own.astype(np.float64), a.center_point_box)
        for kind, ranks in enumerate(scores[image]):
            chosen = _kept(corners, ranks, most, overlap, lowest)
            found += [(image, kind, box) for box in chosen]
    return F.constant(np.array(found, np.int64).reshape(-1, 3))
