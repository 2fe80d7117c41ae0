"""Image loaders with augmentation, for classification and detection."""

# Written by `python -m tools.stubs --write`.

from mxcy.gluon.contrib.data.vision import (
    dataloader as dataloader, transforms as transforms,
)
from mxcy.gluon.contrib.data.vision.augment import (
    create_image_augment as create_image_augment,
)
from mxcy.gluon.contrib.data.vision.dataloader import (
    ImageBboxDataLoader as ImageBboxDataLoader, ImageDataLoader as ImageDataLoader,
)
from mxcy.gluon.contrib.data.vision.transforms.bbox.bbox import (
    ImageBboxCrop as ImageBboxCrop,
    ImageBboxRandomCropWithConstraints as ImageBboxRandomCropWithConstraints,
    ImageBboxRandomFlipLeftRight as ImageBboxRandomFlipLeftRight,
    ImageBboxResize as ImageBboxResize,
)
