"""Image transforms, for `Dataset.transform` and `transform_first`."""

# Written by `python -m tools.stubs --write`.

from collections.abc import Sequence
from mxcy.gluon.data.vision.colours import (
    RandomBrightness as RandomBrightness, RandomColorJitter as RandomColorJitter,
    RandomContrast as RandomContrast, RandomGray as RandomGray, RandomHue as RandomHue,
    RandomLighting as RandomLighting, RandomSaturation as RandomSaturation,
)
from mxcy.gluon.data.vision.transforms import (
    image as image,
)
from mxcy.gluon.data.vision.transforms.image import (
    CenterCrop as CenterCrop, CropResize as CropResize, Normalize as Normalize,
    RandomCrop as RandomCrop, RandomFlipLeftRight as RandomFlipLeftRight,
    RandomFlipTopBottom as RandomFlipTopBottom, RandomResizedCrop as RandomResizedCrop,
    RandomRotation as RandomRotation, Resize as Resize, Rotate as Rotate, ToTensor as ToTensor,
)

def Cast(dtype="float32"):
    """Cast to another dtype."""
def Compose(transforms):
    """Sequence of transforms."""
def HybridCompose(transforms):
    """Sequence of hybridizable transforms."""
def HybridRandomApply(transforms, p=0.5):
    """`RandomApply` for a hybridizable transform, which keeps shape and dtype if it is ..."""
def RandomApply(transforms, p=0.5):
    """Apply a transform, or a sequence of them, with a given probability."""
