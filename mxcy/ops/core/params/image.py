"""Structs of kernels on images: ``kernels/params/image.gen.h``."""

from functools import partial

from mxcy.ops.core.struct_layout import Params

_struct = partial(Params, "image")

IMAGE_FACTOR = _struct(
    "image_factor", "range from which the factor of a colour change is drawn",
    low="f64", high="f64",
)
IMAGE_LIGHTING = _struct(
    "image_lighting",
    "weights of the three principal components of colour; drawn if the deviation is not negative",
    alpha="f64[3]", deviation="f64",
)
IMAGE_JITTER = _struct(
    "image_jitter",
    "largest changes of brightness, contrast, saturation and hue; 0 disables one",
    most="f64[4]",
)
IMAGE_FLIP = _struct(
    "image_flip", "axis along which an image is flipped with probability `p`",
    axis="i32", p="f64",
)
RESAMPLE = _struct(
    "resample",
    "planes resized bilinearly from `source` to `target` size, or the gradient if `transposed`; "
    "aligned: corner pixels are aligned by their centres",
    planes="i64", source="i64[2]", target="i64[2]", aligned="i32", transposed="i32",
)
IMAGE_RESIZE = _struct(
    "image_resize", "channels-last images resized from `source` to `target` size",
    batch="i64", channels="i64", source="i64[2]", target="i64[2]", nearest="i32",
)
IMAGE_TENSOR = _struct(
    "image_tensor", "images of `size` pixels whose channels become planes",
    images="i64", channels="i64", size="i64",
)
IMAGE_NORMALIZE = _struct(
    "image_normalize", "planes of `size` pixels, normalised per channel (1 or 3)",
    planes="i64", channels="i64", size="i64", mean="f64[3]", std="f64[3]",
)
UPSAMPLING = _struct(
    "upsampling", "nearest-neighbour upsampling; sum: inputs are summed instead of concatenated",
    sum="i32",
)
SAMPLER = _struct(
    "sampler",
    "bilinear sampling of images at a grid; affine: the grid is given as affine matrices",
    batch="i64", channels="i64", source="i64[2]", target="i64[2]", affine="i32",
)
CORRELATION = _struct(
    "correlation",
    "patches compared at displacements of up to `reach`, `radius` steps on each side; row: number"
    " of elements of a padded row, which is stored as `stride1` interleaved parts",
    batch="i64", channels="i64", source="i64[2]", target="i64[2]", kernel="i64", reach="i64",
    stride1="i64", stride2="i64", pad="i64", radius="i64", row="i64", multiply="i32",
)
