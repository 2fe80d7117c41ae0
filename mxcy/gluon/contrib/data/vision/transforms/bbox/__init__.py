"""Joint transforms of images and bounding boxes, and box utilities."""

from mxcy.gluon.contrib.data.vision.transforms.bbox import bbox, utils
from mxcy.gluon.contrib.data.vision.transforms.bbox.bbox import (
    ImageBboxCrop,
    ImageBboxRandomCropWithConstraints,
    ImageBboxRandomExpand,
    ImageBboxRandomFlipLeftRight,
    ImageBboxResize,
)

__all__ = [
    "ImageBboxCrop",
    "ImageBboxRandomCropWithConstraints",
    "ImageBboxRandomExpand",
    "ImageBboxRandomFlipLeftRight",
    "ImageBboxResize",
    "bbox",
    "utils",
]
