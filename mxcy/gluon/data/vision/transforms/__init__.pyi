"""Transforms of images, for `Dataset.transform` and `transform_first`."""

# Written by `python -m tools.stubs --write`.

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
    """Another element type."""
def Compose(transforms):
    """Transforms, one after the other."""
def HybridCompose(transforms):
    """Transforms that can be hybridized, one after the other."""
def HybridRandomApply(transforms, p=0.5):
    """`RandomApply` of a transform that can be hybridized."""
def RandomApply(transforms, p=0.5):
    """A transform, or several after each other, that is applied with a probability."""
