"""The names of `mx.image` other than detection, under MXNet's module path."""

from mxcy.image.augmenters import (
    Augmenter,
    CastAug,
    CenterCropAug,
    ForceResizeAug,
    HorizontalFlipAug,
    RandomCropAug,
    RandomOrderAug,
    RandomSizedCropAug,
    ResizeAug,
    SequentialAug,
)
from mxcy.image.colours import (
    BrightnessJitterAug,
    ColorJitterAug,
    ColorNormalizeAug,
    ContrastJitterAug,
    HueJitterAug,
    LightingAug,
    RandomGrayAug,
    SaturationJitterAug,
    color_normalize,
)
from mxcy.image.create import CreateAugmenter
from mxcy.image.crops import (
    center_crop,
    fixed_crop,
    random_crop,
    random_size_crop,
    resize_short,
    scale_down,
)
from mxcy.image.crops import interpolation as _get_interp_method  # noqa: F401  libraries do so
from mxcy.image.image_iter import ImageIter
from mxcy.image.reading import copyMakeBorder, imdecode, imread, imresize
from mxcy.image.rotation import imrotate, random_rotate

__all__ = [
    "Augmenter",
    "BrightnessJitterAug",
    "CastAug",
    "CenterCropAug",
    "ColorJitterAug",
    "ColorNormalizeAug",
    "ContrastJitterAug",
    "CreateAugmenter",
    "ForceResizeAug",
    "HorizontalFlipAug",
    "HueJitterAug",
    "ImageIter",
    "LightingAug",
    "RandomCropAug",
    "RandomGrayAug",
    "RandomOrderAug",
    "RandomSizedCropAug",
    "ResizeAug",
    "SaturationJitterAug",
    "SequentialAug",
    "center_crop",
    "color_normalize",
    "copyMakeBorder",
    "fixed_crop",
    "imdecode",
    "imread",
    "imresize",
    "imrotate",
    "random_crop",
    "random_rotate",
    "random_size_crop",
    "resize_short",
    "scale_down",
]
