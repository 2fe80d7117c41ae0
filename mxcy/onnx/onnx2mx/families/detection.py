"""Detection: bounding boxes and regions of interest."""

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


@row("NonMaxSuppression", since=10)
def non_max_suppression(F, a, boxes, scores, most=None, overlap=None, lowest=None):
    limits = [
        F.constant(np.array(usual)) if value is None else value
        for value, usual in (
            (most, np.int64(0)),
            (overlap, np.float32(0)),
            (lowest, np.float32(-np.inf)),
        )
    ]
    return F("_remaining_boxes", boxes, scores, *limits, centred=bool(a.center_point_box))
