"""Joint transforms of images and bounding boxes, and box utilities."""

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
