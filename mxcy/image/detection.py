"""The detection names of `mx.image`, under MXNet's module path."""

from mxcy.image.det_augmenters import (
    CreateDetAugmenter,
    CreateMultiRandCropAugmenter,
    DetAugmenter,
    DetBorrowAug,
    DetHorizontalFlipAug,
    DetRandomSelectAug,
)
from mxcy.image.det_boxes import DetRandomCropAug, DetRandomPadAug
from mxcy.image.det_iter import ImageDetIter

__all__ = [
    "CreateDetAugmenter",
    "CreateMultiRandCropAugmenter",
    "DetAugmenter",
    "DetBorrowAug",
    "DetHorizontalFlipAug",
    "DetRandomCropAug",
    "DetRandomPadAug",
    "DetRandomSelectAug",
    "ImageDetIter",
]
