"""Transforms of images, for `Dataset.transform` and `transform_first`.

Images are NDArrays (height, width, channel) as data sets give them, until `ToTensor` brings the
channels to the front. Random transforms draw from MXNet's random streams.
"""

import math

from mxcy import ndarray as nd
from mxcy.gluon.block import Block, HybridBlock
from mxcy.gluon.data.vision.colours import (
    RandomBrightness,
    RandomColorJitter,
    RandomContrast,
    RandomHue,
    RandomLighting,
    RandomSaturation,
    draw,
)
from mxcy.gluon.nn import HybridSequential, Sequential

__all__ = [
    "Cast", "CenterCrop", "Compose", "CropResize", "HybridCompose", "HybridRandomApply",
    "Normalize", "RandomApply", "RandomBrightness", "RandomColorJitter", "RandomContrast",
    "RandomCrop", "RandomFlipLeftRight", "RandomFlipTopBottom", "RandomHue", "RandomLighting",
    "RandomResizedCrop", "RandomSaturation", "Resize", "ToTensor",
]  # fmt: skip


def _pair(size):
    """(width, height)."""
    return (size, size) if isinstance(size, int) else tuple(size)


def _draw_index(count):
    """One of 0 ... count - 1."""
    return min(int(draw() * count), count - 1)


# --- several transforms --------------------------------------------------------------------------


class Compose(Sequential):
    """Transforms, one after the other.

    Parameters
    ----------
    transforms : list of Block
    """

    def __init__(self, transforms):
        super().__init__()
        self.add(*transforms)


class HybridCompose(HybridSequential):
    """Transforms that can be hybridized, one after the other.

    Parameters
    ----------
    transforms : list of HybridBlock
    """

    def __init__(self, transforms):
        super().__init__()
        self.add(*transforms)
        self.hybridize()


class RandomApply(Sequential):
    """A transform, or several after each other, that is applied with a probability.

    Parameters
    ----------
    transforms : Block
    p : float
        The probability.
    """

    def __init__(self, transforms, p=0.5):
        super().__init__()
        self.transforms, self.p = transforms, p

    def forward(self, x, *args):
        """Transform an image, or return it."""
        return x if draw() > self.p else self.transforms(x, *args)


class HybridRandomApply(RandomApply):
    """`RandomApply` of a transform that can be hybridized."""

    def __init__(self, transforms, p=0.5):
        assert isinstance(transforms, HybridBlock), (
            f"transforms must be a HybridBlock, got {type(transforms)}"
        )
        super().__init__(transforms, p)


# --- values --------------------------------------------------------------------------------------


class Cast(HybridBlock):
    """Another element type.

    Parameters
    ----------
    dtype : str
    """

    def __init__(self, dtype="float32"):
        super().__init__()
        self._dtype = dtype

    def hybrid_forward(self, F, x):
        """Cast an array."""
        return F.cast(x, self._dtype)


class ToTensor(HybridBlock):
    """Values from [0, 255] to [0, 1) in float32, and channels to the front."""

    def hybrid_forward(self, F, x):
        """Transform an image, or a batch."""
        return F.image.to_tensor(x)


class Normalize(HybridBlock):
    """Subtract a mean and divide by a standard deviation; after `ToTensor`.

    Parameters
    ----------
    mean, std : float or tuple of float
        One number, or one for each channel.
    """

    def __init__(self, mean=0.0, std=1.0):
        super().__init__()
        self._mean, self._std = (
            tuple(value) if isinstance(value, (list, tuple)) else (value,) for value in (mean, std)
        )

    def hybrid_forward(self, F, x):
        """Transform an image, or a batch."""
        return F.image.normalize(x, self._mean, self._std)


# --- sizes and places ----------------------------------------------------------------------------


class Resize(HybridBlock):
    """Another size.

    Parameters
    ----------
    size : int or tuple of int
        (width, height), or one number for both, or with `keep_ratio` for the shorter side.
    keep_ratio : bool
    interpolation : {0, 1}
        The nearest pixel, or between four.
    """

    def __init__(self, size, keep_ratio=False, interpolation=1):
        super().__init__()
        self._size, self._keep, self._interpolation = size, keep_ratio, interpolation

    def hybrid_forward(self, F, x):
        """Transform an image, or a batch."""
        return F.image.resize(x, self._size, self._keep, self._interpolation)


class CropResize(HybridBlock):
    """A part of an image, in another size if asked.

    Parameters
    ----------
    x, y, width, height : int
        The part.
    size : int or tuple of int, optional
        (width, height) of the result.
    interpolation : {0, 1}, optional
        See `Resize`.
    """

    def __init__(self, x, y, width, height, size=None, interpolation=None):
        super().__init__()
        self._part, self._size = (x, y, width, height), size
        self._interpolation = 1 if interpolation is None else interpolation

    def hybrid_forward(self, F, x):
        """Transform an image, or a batch."""
        x = F.image.crop(x, *self._part)
        return F.image.resize(x, self._size, False, self._interpolation) if self._size else x


def _cropped(image, left, top, width, height, size, interpolation):
    part = nd.image.crop(image, left, top, width, height)
    same = (width, height) == size
    return part if same else nd.image.resize(part, size, False, interpolation)


def _fitting(image, size):
    """`size`, made smaller in its own shape until it fits into the image: (width, height)."""
    height, width = image.shape[:2]
    wanted, tall = size
    if height < tall:
        wanted, tall = wanted * height / tall, height
    if width < wanted:
        wanted, tall = width, tall * width / wanted
    return int(wanted), int(tall)


class CenterCrop(Block):
    """The middle of an image; of smaller images as much as has the same shape, enlarged.

    Parameters
    ----------
    size : int or tuple of int
        (width, height), or one number for both.
    interpolation : {0, 1}
        See `Resize`.
    """

    def __init__(self, size, interpolation=1):
        super().__init__()
        self._size, self._interpolation = _pair(size), interpolation

    def forward(self, x):
        """Transform an image."""
        width, height = _fitting(x, self._size)
        left, top = (x.shape[1] - width) // 2, (x.shape[0] - height) // 2
        return _cropped(x, left, top, width, height, self._size, self._interpolation)


class RandomCrop(Block):
    """A part of an image, at a random place.

    Parameters
    ----------
    size : int or tuple of int
        (width, height), or one number for both; smaller images are enlarged as by `CenterCrop`.
    pad : int or tuple of int, optional
        A margin that is added before: one number for all sides, or (height, width), or
        (top, bottom, left, right).
    pad_value : float
        What the margin holds.
    interpolation : {0, 1}
        See `Resize`.
    """

    def __init__(self, size, pad=None, pad_value=0, interpolation=1):
        super().__init__()
        self._size, self._interpolation = _pair(size), interpolation
        self._margins, self._pad_value = _margins(pad), pad_value

    def forward(self, x):
        """Transform an image."""
        if self._margins is not None:
            x = _with_margins(x, self._margins, self._pad_value)
        width, height = _fitting(x, self._size)
        left, top = _draw_index(x.shape[1] - width + 1), _draw_index(x.shape[0] - height + 1)
        return _cropped(x, left, top, width, height, self._size, self._interpolation)


def _margins(pad):
    """(top, bottom, left, right)."""
    if pad is None or isinstance(pad, int):
        return None if pad is None else (pad,) * 4
    assert len(pad) in (2, 4), f"pad: expected an int or 2 or 4 of them, got {pad}"
    return tuple(pad) if len(pad) == 4 else (pad[0], pad[0], pad[1], pad[1])


def _with_margins(x, margins, value):
    top, bottom, left, right = margins
    height, width, channels = x.shape
    shape = (height + top + bottom, width + left + right, channels)
    padded = nd.full(shape, value, dtype=x.dtype, ctx=x.context)
    padded[top : top + height, left : left + width] = x
    return padded


class RandomResizedCrop(Block):
    """A part of an image, of random size, shape and place, in a given size.

    Parameters
    ----------
    size : int or tuple of int
        (width, height) of the result, or one number for both.
    scale : tuple of float
        The least and the greatest part of the image's area.
    ratio : tuple of float
        The least and the greatest ratio of width to height.
    interpolation : {0, 1}
        See `Resize`.
    """

    def __init__(self, size, scale=(0.08, 1.0), ratio=(3.0 / 4.0, 4.0 / 3.0), interpolation=1):
        super().__init__()
        self._size, self._interpolation = _pair(size), interpolation
        self._scale = (scale, 1.0) if isinstance(scale, (int, float)) else tuple(scale)
        self._ratio = tuple(ratio)

    def forward(self, x):
        """Transform an image."""
        tall, wide = x.shape[:2]
        for _ in range(10):
            area = draw(*self._scale) * tall * wide
            ratio = math.exp(draw(*map(math.log, self._ratio)))
            width, height = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if 0 < width <= wide and 0 < height <= tall:
                left, top = _draw_index(wide - width + 1), _draw_index(tall - height + 1)
                return _cropped(x, left, top, width, height, self._size, self._interpolation)
        return CenterCrop(self._size, self._interpolation)(x)


class _RandomFlip(Block):
    def __init__(self, p=0.5):
        super().__init__()
        self.p = p

    def forward(self, x):
        """Flip an image, or return it."""
        return self._flipped(x) if draw() < self.p else x


class RandomFlipLeftRight(_RandomFlip):
    """Swap left and right, with a probability.

    Parameters
    ----------
    p : float
        The probability.
    """

    def _flipped(self, x):
        return nd.image.flip_left_right(x)


class RandomFlipTopBottom(_RandomFlip):
    """Turn an image upside down, with a probability.

    Parameters
    ----------
    p : float
        The probability.
    """

    def _flipped(self, x):
        return nd.image.flip_top_bottom(x)
