"""Image loaders with augmentation, for classification and detection."""

from mxcy._base.listing import listing
from mxcy.gluon.contrib.data.vision import dataloader, transforms
from mxcy.gluon.contrib.data.vision.dataloader import (
    ImageBboxDataLoader,
    ImageDataLoader,
    create_image_augment,
)
from mxcy.gluon.contrib.data.vision.transforms.bbox import (
    ImageBboxCrop,
    ImageBboxRandomCropWithConstraints,
    ImageBboxRandomFlipLeftRight,
    ImageBboxResize,
)

__all__ = [
    "ImageBboxCrop",
    "ImageBboxDataLoader",
    "ImageBboxRandomCropWithConstraints",
    "ImageBboxRandomFlipLeftRight",
    "ImageBboxResize",
    "ImageDataLoader",
    "create_image_augment",
    "dataloader",
    "transforms",
]

__dir__ = listing(__name__)
