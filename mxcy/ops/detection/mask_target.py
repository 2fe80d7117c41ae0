"""Training targets of instance segmentation: object masks cropped to regions.

Definition: He et al. (2017), Mask R-CNN.
"""

import numpy as np

from mxcy.ops.core.attrs import Bool, Int, Shape
from mxcy.ops.core.infer import Spec, most, require, same_dtype
from mxcy.ops.core.record import find, op, sample, stop, values
from mxcy.ops.norm.batch import require_float

__all__ = []


def _regions(rng):
    low = rng.uniform(0, 6, (2, 3, 2))
    return np.concatenate([low, low + rng.uniform(1, 6, (2, 3, 2))], axis=-1)


@op(
    "_contrib_mrcnn_mask_target",
    inputs="rois gt_masks matches cls_targets",
    outputs="output0 output1",
)
class MaskTarget:
    """Compute mask targets: the matched objects' masks pooled over regions, and class weights.

    Shapes: rois (batch, num_rois, 4), (left, top, right, bottom) in pixels of the masks; gt_masks
    (batch, objects, height, width); matches (batch, num_rois), the index of each region's object;
    cls_targets (batch, num_rois), its class. Returns the masks, averaged over `sample_ratio` points
    in each direction as ROIAlign does, and ones where the class is the region's, zeros elsewhere;
    both (batch, num_rois, num_classes, *mask_size). No gradient flows.
    """

    num_rois: Int
    num_classes: Int
    mask_size: Shape
    sample_ratio: Int = 2
    aligned: Bool = False

    grad = stop
    samples = (
        sample(
            _regions,
            (2, 4, 12, 12),
            values(0, 4, (2, 3), "int32"),
            values(0, 2, (2, 3), "int32"),
            num_rois=3,
            num_classes=2,
            mask_size=(3, 2),
            grad=False,
        ),
    )

    def infer(a, rois, gt_masks, matches, cls_targets):
        dtype = same_dtype((rois, gt_masks), ("rois", "gt_masks"))
        require_float(gt_masks, "gt_masks")
        most(a.sample_ratio, 1024, "sample_ratio")
        require(
            len(a.mask_size) == 2 and min(a.mask_size) > 0,
            f"mask_size: expected (height, width), got {a.mask_size}",
        )
        rois.fill("rois", (-1, a.num_rois, 4))
        gt_masks.fill("gt_masks", (rois.shape[0], -1, -1, -1))
        for spec, name in ((matches, "matches"), (cls_targets, "cls_targets")):
            spec.fill(name, rois.shape[:2])
        shape = (*rois.shape[:2], a.num_classes, *a.mask_size)
        return Spec(shape, dtype), Spec(shape, dtype)

    def ref(a, xp, rois, gt_masks, matches, cls_targets):
        batch, objects = gt_masks.shape[:2]
        numbers = matches.astype("int64") + xp.arange(batch)[:, None] * objects
        regions = xp.concatenate([numbers[..., None], rois], -1).reshape(-1, 5)
        align = find("_contrib_ROIAlign")
        attrs = align.schema.intern(
            align.name,
            {
                "pooled_size": a.mask_size,
                "spatial_scale": 1.0,
                "sample_ratio": a.sample_ratio,
                "aligned": a.aligned,
            },
        )
        masks = align.ref(attrs, xp, gt_masks.reshape(-1, 1, *gt_masks.shape[2:]), regions)
        shape = (batch, a.num_rois, a.num_classes, *a.mask_size)
        masks = xp.broadcast_to(masks.reshape(batch, a.num_rois, 1, *a.mask_size), shape)
        hits = cls_targets[..., None] == xp.arange(a.num_classes)
        return masks, xp.broadcast_to(hits[..., None, None], shape).astype(masks.dtype)
