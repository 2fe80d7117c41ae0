"""Transforms of images together with boxes in them, and functions of boxes."""

# Written by `python -m tools.stubs --write`.

from mxcy.gluon.contrib.data.vision.transforms.bbox import (
    bbox as bbox, utils as utils,
)
from mxcy.gluon.contrib.data.vision.transforms.bbox.bbox import (
    ImageBboxCrop as ImageBboxCrop,
    ImageBboxRandomCropWithConstraints as ImageBboxRandomCropWithConstraints,
    ImageBboxRandomExpand as ImageBboxRandomExpand,
    ImageBboxRandomFlipLeftRight as ImageBboxRandomFlipLeftRight,
    ImageBboxResize as ImageBboxResize,
)
