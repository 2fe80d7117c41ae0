"""Structs of kernels on images: ``kernels/params/image.gen.h``."""

from functools import partial

from mxcy.ops.core.struct_layout import Params

_struct = partial(Params, "image")

IMAGE_FACTOR = _struct(
    "image_factor", "the bounds between which a change of colours is drawn",
    low="f64", high="f64",
)
IMAGE_LIGHTING = _struct(
    "image_lighting",
    "parts of the three main directions of colours; drawn where the deviation is not negative",
    alpha="f64[3]", deviation="f64",
)
IMAGE_JITTER = _struct(
    "image_jitter",
    "the greatest changes of brightness, contrast, saturation and hue; 0 leaves one out",
    most="f64[4]",
)
IMAGE_FLIP = _struct(
    "image_flip", "the axis of an image that is reversed with a probability",
    axis="i32", p="f64",
)
RESAMPLE = _struct(
    "resample",
    "planes of `source` extents brought to `target` ones by lines, or back if `transposed`; "
    "`aligned`: the first and the last points meet, not the areas",
    planes="i64", source="i64[2]", target="i64[2]", aligned="i32", transposed="i32",
)
IMAGE_RESIZE = _struct(
    "image_resize", "images with their channels last, in another size",
    batch="i64", channels="i64", source="i64[2]", target="i64[2]", nearest="i32",
)
IMAGE_TENSOR = _struct(
    "image_tensor", "images of `size` pixels whose channels become planes",
    images="i64", channels="i64", size="i64",
)
IMAGE_NORMALIZE = _struct(
    "image_normalize", "planes of `size` pixels, with the numbers of 1 or 3 channels in turn",
    planes="i64", channels="i64", size="i64", mean="f64[3]", std="f64[3]",
)
UPSAMPLING = _struct(
    "upsampling", "images whose pixels become squares; `sum`: they are summed, not joined",
    sum="i32",
)
SAMPLER = _struct(
    "sampler", "images read at places between pixels; `affine`: matrices take the place of grids",
    batch="i64", channels="i64", source="i64[2]", target="i64[2]", affine="i32",
)
CORRELATION = _struct(
    "correlation",
    "patches compared at displacements of up to `reach`, `radius` steps on each side; `row`: the "
    "elements of a row with its margins, kept in `stride1` parts",
    batch="i64", channels="i64", source="i64[2]", target="i64[2]", kernel="i64", reach="i64",
    stride1="i64", stride2="i64", pad="i64", radius="i64", row="i64", multiply="i32",
)
