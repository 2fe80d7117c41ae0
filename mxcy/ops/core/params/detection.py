"""Structs of regions and boxes: ``kernels/params/detection.gen.h``."""

from functools import partial

from mxcy.ops.core.struct_layout import Params

_struct = partial(Params, "detection")

ROI = _struct(
    "roi",
    "regions of images pooled to one size; channels: those of the result; sensitive: each bin has"
    " channels of its own; samples: sampling points per bin and direction, 0 for adaptive",
    images="i64", regions="i64", channels="i64", source="i64[2]", pooled="i64[2]", samples="i64",
    scale="f64", sensitive="i32", aligned="i32",
)
PARTS = _struct(
    "parts",
    "position-sensitive pooling of regions into pooled x pooled bins; channels: those of the "
    "result, the data has groups x groups times as many; with offsets: `classes` of them for "
    "part_size x part_size parts, and samples x samples points per bin",
    images="i64", regions="i64", channels="i64", source="i64[2]", pooled="i64", groups="i64",
    classes="i64", part_size="i64", samples="i64", scale="f64", trans_std="f64",
)
BOX_IOU = _struct(
    "box_iou", "intersection over union of `lhs` boxes with `rhs` boxes",
    lhs="i64", rhs="i64", center="i32",
)
BOX_CODE = _struct(
    "box_code",
    "boxes as offsets from anchors; shared: the batch shares its anchors; refs: number of "
    "reference boxes to choose from",
    batch="i64", boxes="i64", refs="i64", shared="i32", center="i32", clip="f64", stds="f64[4]",
)
MATCHING = _struct(
    "matching",
    "greedy bipartite matching of rows and columns by score, up to `threshold`; with a positive "
    "`top` at most top + 1 pairs, as in MXNet",
    batch="i64", rows="i64", columns="i64", top="i64", ascending="i32", threshold="f64",
)
BOX_NMS = _struct(
    "box_nms",
    "non-maximum suppression in batches of rows of `width` values; box, score and kind are column"
    " indices, negative ones are absent",
    batch="i64", rows="i64", width="i64", box="i64", score="i64", kind="i64", top="i64",
    force="i32", center_in="i32", center_out="i32", background="f64", overlap="f64", valid="f64",
)
PRIOR = _struct(
    "prior",
    "anchors of up to 64 shapes around each position; steps and offsets are (y, x); halves: half "
    "width and half height of each shape",
    height="i64", width="i64", shapes="i64", clip="i32", steps="f64[2]", offsets="f64[2]",
    halves="f64[128]",
)
TARGET = _struct(
    "target", "training targets of a single-shot detector from boxes, rows of `width` values",
    batch="i64", anchors="i64", boxes="i64", width="i64", classes="i64", threshold="f64",
    ignore="f64", mining_ratio="f64", mining_threshold="f64", variances="f64[4]",
)
DETECTION = _struct(
    "detection", "boxes decoded from a single-shot detector's predictions",
    batch="i64", classes="i64", anchors="i64", background="i64", top="i64", clip="i32", force="i32",
    threshold="f64", overlap="f64", variances="f64[4]",
)
PROPOSAL = _struct(
    "proposal",
    "regions decoded from a proposal network's predictions; boxes: up to 64 anchors per position;"
    " before, after: numbers of boxes kept before and after suppression; least: minimum size",
    batch="i64", anchors="i64", height="i64", width="i64", stride="i64", before="i64", after="i64",
    least="i64", corners="i32", overlap="f64", boxes="f64[256]",
)
