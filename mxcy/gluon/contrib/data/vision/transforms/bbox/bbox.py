"""Joint transforms of an image and its bounding boxes.

Images are NDArrays (height, width, channels); boxes are NDArrays (boxes, 4 or more) of left, top,
right, bottom in pixels, then extra values. Random transforms draw from Python's `random`.
"""

import numbers
import random

import numpy as np

from mxcy import ndarray as nd
from mxcy.gluon.block import Block
from mxcy.gluon.contrib.data.vision.transforms.bbox import utils
from mxcy.gluon.data.vision.transforms import Resize

__all__ = [
    "ImageBboxCrop",
    "ImageBboxRandomCropWithConstraints",
    "ImageBboxRandomExpand",
    "ImageBboxRandomFlipLeftRight",
    "ImageBboxResize",
]


def _size(img):
    """Width and height."""
    if len(img.shape) != 3:
        raise ValueError(f"an image must be (height, width, channels), given {img.shape}")
    return img.shape[1], img.shape[0]


def _boxes(values):
    return nd.array(values, dtype="float32")


class ImageBboxRandomFlipLeftRight(Block):
    """Mirror an image and its boxes with a given probability.

    Parameters
    ----------
    p : float
        The probability.
    """

    def __init__(self, p=0.5):
        super().__init__()
        self.p = p

    def forward(self, img, bbox):
        """Transform an image and its boxes."""
        utils.check_shape(bbox)
        if self.p <= 0 or (self.p < 1 and self.p < random.random()):
            return img, bbox
        flipped = utils.bbox_flip(bbox.asnumpy(), _size(img), flip_x=True)
        return nd.image.flip_left_right(img), _boxes(flipped)


class ImageBboxCrop(Block):
    """Crop an image, unless it is too small, and its boxes.

    Parameters
    ----------
    crop : tuple of int
        Left, top, width and height of the crop.
    allow_outside_center : bool
        Keep boxes whose centres are outside.
    """

    def __init__(self, crop, allow_outside_center=False):
        super().__init__()
        assert len(crop) == 4, f"crop must be (left, top, width, height), given {crop}"
        self.xmin, self.ymin, self.width, self.height = crop
        assert self.xmin >= 0 and self.ymin >= 0, f"crop starts outside the image: {crop}"
        assert self.width > 0 and self.height > 0, f"crop is empty: {crop}"
        self._allow_outside_center = allow_outside_center

    def forward(self, img, bbox):
        """Transform an image and its boxes."""
        width, height = _size(img)
        if self.xmin + self.width >= width or self.ymin + self.height >= height:
            return img, bbox
        part = self.xmin, self.ymin, self.width, self.height
        cut = utils.bbox_crop(bbox.asnumpy(), part, self._allow_outside_center)
        return nd.image.crop(img, *part), _boxes(cut)


class ImageBboxRandomCropWithConstraints(Block):
    """With a given probability, take a random crop that overlaps the boxes sufficiently.

    Parameters
    ----------
    p : float
        The probability.
    min_scale, max_scale, max_aspect_ratio, constraints, max_trial
        See `bbox_random_crop_with_constraints`.
    """

    def __init__(
        self, p=0.5, min_scale=0.3, max_scale=1, max_aspect_ratio=2, constraints=None, max_trial=50
    ):
        super().__init__()
        self.p = p
        self._options = {
            "min_scale": min_scale,
            "max_scale": max_scale,
            "max_aspect_ratio": max_aspect_ratio,
            "constraints": constraints,
            "max_trial": max_trial,
        }

    def forward(self, img, bbox):
        """Transform an image and its boxes."""
        if random.random() > self.p:
            return img, bbox
        size = _size(img)
        cut, part = utils.bbox_random_crop_with_constraints(bbox.asnumpy(), size, **self._options)
        if part == (0, 0, *size):
            return img, bbox
        return nd.image.crop(img, *part), _boxes(cut)


class ImageBboxRandomExpand(Block):
    """With a given probability, place an image at a random position of a larger one.

    Parameters
    ----------
    p : float
        The probability.
    max_ratio : float
        Maximum ratio of the sizes.
    fill : number or tuple of number
        Colour around the image.
    keep_ratio : bool
        Keep the aspect ratio.
    """

    def __init__(self, p=0.5, max_ratio=4, fill=0, keep_ratio=True):
        super().__init__()
        self.p, self._max_ratio, self._fill, self._keep_ratio = p, max_ratio, fill, keep_ratio

    def forward(self, img, bbox):
        """Transform an image and its boxes."""
        if self._max_ratio <= 1 or random.random() > self.p:
            return img, bbox
        width, height = _size(img)
        channels = img.shape[2]
        across = random.uniform(1, self._max_ratio)
        down = across if self._keep_ratio else random.uniform(1, self._max_ratio)
        if not isinstance(self._fill, numbers.Number) and len(self._fill) != channels:
            raise ValueError(f"fill has {len(self._fill)} values for {channels} channels")
        canvas = np.empty((int(height * down), int(width * across), channels), img.dtype)
        canvas[...] = self._fill
        top = random.randint(0, canvas.shape[0] - height)
        left = random.randint(0, canvas.shape[1] - width)
        canvas[top : top + height, left : left + width] = img.asnumpy()
        moved = utils.bbox_translate(bbox.asnumpy(), left, top)
        return nd.array(canvas, dtype=img.dtype), _boxes(moved)


class ImageBboxResize(Block):
    """Resize an image and its boxes.

    Parameters
    ----------
    width, height : int
        The new size.
    interp : int
        Interpolation, see `mx.image.imresize`; -1 chooses one at random.
    """

    def __init__(self, width, height, interp=1):
        super().__init__()
        self._to, self._interp = (width, height), interp

    def forward(self, img, bbox):
        """Transform an image and its boxes."""
        interp = random.randint(0, 4) if self._interp == -1 else self._interp
        scaled = utils.bbox_resize(bbox.asnumpy(), _size(img), self._to)
        return Resize(self._to, interpolation=interp)(img), _boxes(scaled)
