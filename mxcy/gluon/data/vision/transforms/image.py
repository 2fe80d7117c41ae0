"""Transforms of images (height, width, channel), and of the tensors `ToTensor` returns."""

import math
import random

import numpy as np

from mxcy import image as images
from mxcy import ndarray as nd
from mxcy.gluon.block import Block, HybridBlock
from mxcy.gluon.data.vision.colours import (
    RandomBrightness,
    RandomColorJitter,
    RandomContrast,
    RandomGray,
    RandomHue,
    RandomLighting,
    RandomSaturation,
    draw,
)
from mxcy.image.crops import interpolation as interpolation_of

__all__ = [
    "CenterCrop",
    "CropResize",
    "Normalize",
    "RandomBrightness",
    "RandomColorJitter",
    "RandomContrast",
    "RandomCrop",
    "RandomFlipLeftRight",
    "RandomFlipTopBottom",
    "RandomGray",
    "RandomHue",
    "RandomLighting",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomSaturation",
    "Resize",
    "Rotate",
    "ToTensor",
]


def _pair(size):
    """Return a size as (width, height)."""
    return (size, size) if isinstance(size, int) else tuple(size)


def _resized(image, size, interpolation):
    """Resize an image to (width, height)."""
    sizes = (*image.shape[-3:-1], *reversed(size))
    return nd.image.resize(image, size, False, interpolation_of(interpolation, sizes))


def _as_kind_of(image, result):
    """Return an `mx.nd` result as the kind of array that the image is."""
    return result.as_np_ndarray() if image._is_numpy else result


def _draw_index(count):
    """Draw an integer from 0 to count - 1."""
    return min(int(draw() * count), count - 1)


# --- values --------------------------------------------------------------------------------------


class ToTensor(HybridBlock):
    """Scale values from [0, 255] to [0, 1] in float32 and move channels to the front."""

    def hybrid_forward(self, F, x):
        """Transform an image, or a batch."""
        return F.image.to_tensor(x)


class Normalize(HybridBlock):
    """Subtract a mean and divide by a standard deviation; apply after `ToTensor`.

    Parameters
    ----------
    mean, std : float or tuple of float
        One number, or one per channel.
    """

    def __init__(self, mean=0.0, std=1.0):
        super().__init__()
        self._mean, self._std = (
            tuple(value) if isinstance(value, (list, tuple)) else (value,) for value in (mean, std)
        )

    def hybrid_forward(self, F, x):
        """Transform an image, or a batch."""
        return F.image.normalize(x, self._mean, self._std)


# --- resizing and cropping -----------------------------------------------------------------------


class Resize(HybridBlock):
    """Resize an image.

    Parameters
    ----------
    size : int or tuple of int
        (width, height), or one number for both; with `keep_ratio`, for the shorter side.
    keep_ratio : bool
    interpolation : int
        0: nearest, 1: bilinear; 2 to 4: OpenCV's bicubic, area and Lanczos interpolation.
    """

    def __init__(self, size, keep_ratio=False, interpolation=1):
        super().__init__()
        self._size, self._keep, self._interpolation = size, keep_ratio, interpolation

    def hybrid_forward(self, F, x):
        """Transform an image, or a batch."""
        return F.image.resize(x, self._size, self._keep, self._interpolation)


class CropResize(HybridBlock):
    """Crop an image, and optionally resize the crop.

    Parameters
    ----------
    x, y, width, height : int
        The crop.
    size : int or tuple of int, optional
        (width, height) of the result.
    interpolation : int, optional
        See `Resize`; bilinear by default.
    """

    def __init__(self, x, y, width, height, size=None, interpolation=None):
        super().__init__()
        self._part, self._size = (x, y, width, height), size
        self._interpolation = 1 if interpolation is None else interpolation

    def hybrid_forward(self, F, x):
        """Transform an image, or a batch."""
        x = F.image.crop(x, *self._part)
        if not self._size:
            return x
        return F.image.resize(x, self._size, False, self._interpolation)


def _cropped(image, left, top, width, height, size, interpolation):
    part = nd.image.crop(image, left, top, width, height)
    same = (width, height) == size
    return part if same else _resized(part, size, interpolation)


def _fitting(image, size):
    """Shrink `size` to fit into the image, keeping its aspect ratio: (width, height)."""
    height, width = image.shape[-3:-1]
    wanted, tall = size
    if height < tall:
        wanted, tall = wanted * height / tall, height
    if width < wanted:
        wanted, tall = width, tall * width / wanted
    return int(wanted), int(tall)


class CenterCrop(HybridBlock):
    """Crop the centre; from a smaller image the largest crop of that aspect ratio, enlarged.

    Parameters
    ----------
    size : int or tuple of int
        (width, height), or one number for both.
    interpolation : int
        See `Resize`; outside of graphs also 9, which chooses by size (area to shrink, bicubic to
        enlarge), and 10, one at random.
    """

    def __init__(self, size, interpolation=1):
        super().__init__()
        self._size, self._interpolation = _pair(size), interpolation

    def hybridize(self, active=True, **kwargs):
        """Run as a graph with MXNet 2 only; 1.9.1 shrinks the size to fit into small images.

        Parameters
        ----------
        active : bool
            On or off.
        **kwargs
            See `HybridBlock.hybridize`.
        """
        super().hybridize(active and self._follows_mxnet_2(), **kwargs)

    def hybrid_forward(self, F, x):
        """Transform an image, or a batch."""
        if F is not nd:
            middle = (0.5, 0.5)
            return F.image.random_crop(x, middle, middle, *self._size, self._interpolation)
        width, height = _fitting(x, self._size)
        left, top = (x.shape[-2] - width) // 2, (x.shape[-3] - height) // 2
        return _cropped(x, left, top, width, height, self._size, self._interpolation)


class RandomCrop(HybridBlock):
    """Crop at a random position.

    Parameters
    ----------
    size : int or tuple of int
        (width, height), or one number for both; smaller images are enlarged as by `CenterCrop`.
    pad : int or tuple of int, optional
        Padding added first: one number for all sides, or (height, width), or
        (top, bottom, left, right). Hybridized, it pads single images only.
    pad_value : float
        Value of the padding.
    interpolation : int
        See `CenterCrop`.
    """

    def __init__(self, size, pad=None, pad_value=0, interpolation=1):
        super().__init__()
        self._size, self._interpolation = _pair(size), interpolation
        self._margins, self._pad_value = _margins(pad), pad_value

    def hybrid_forward(self, F, x):
        """Transform an image, or a batch, whose images have their crop in the same place."""
        if F is not nd:
            if self._margins is not None:
                width = (self._margins[:2], self._margins[2:], (0, 0))
                x = F._internal._npi_pad(x, pad_width=width, constant_values=self._pad_value)
            return F.image.random_crop(x, (0, 1), (0, 1), *self._size, self._interpolation)
        if self._margins is not None:
            x = _with_margins(x, self._margins, self._pad_value)
        width, height = _fitting(x, self._size)
        left, top = _draw_index(x.shape[-2] - width + 1), _draw_index(x.shape[-3] - height + 1)
        return _cropped(x, left, top, width, height, self._size, self._interpolation)


def _margins(pad):
    """Return padding as (top, bottom, left, right)."""
    if pad is None or isinstance(pad, int):
        return None if pad is None else (pad,) * 4
    assert len(pad) in (2, 4), f"pad: expected an int or 2 or 4 of them, got {pad}"
    return tuple(pad) if len(pad) == 4 else (pad[0], pad[0], pad[1], pad[1])


def _with_margins(x, margins, value):
    top, bottom, left, right = margins
    *batch, height, width, channels = x.shape
    shape = (*batch, height + top + bottom, width + left + right, channels)
    padded = nd.full(shape, value, dtype=x.dtype, ctx=x.context)
    padded[..., top : top + height, left : left + width, :] = x
    return _as_kind_of(x, padded)


class RandomResizedCrop(HybridBlock):
    """Crop with random area, aspect ratio and position, resized to a given size.

    Parameters
    ----------
    size : int or tuple of int
        (width, height) of the result, or one number for both.
    scale : tuple of float
        Range of the crop's share of the image's area.
    ratio : tuple of float
        Range of the ratio of width to height.
    interpolation : int
        See `CenterCrop`.
    """

    def __init__(self, size, scale=(0.08, 1.0), ratio=(3.0 / 4.0, 4.0 / 3.0), interpolation=1):
        super().__init__()
        self._size, self._interpolation = _pair(size), interpolation
        self._scale = (scale, 1.0) if isinstance(scale, (int, float)) else tuple(scale)
        self._ratio = tuple(ratio)

    def hybrid_forward(self, F, x):
        """Transform an image, or a batch, whose images have their crop in the same place."""
        if F is not nd:
            width, height = self._size
            return F.image.random_resized_crop(
                x,
                width=width,
                height=height,
                interp=self._interpolation,
                area=self._scale,
                ratio=self._ratio,
            )
        tall, wide = x.shape[-3:-1]
        for _ in range(10):
            area = draw(*self._scale) * tall * wide
            ratio = math.exp(draw(*map(math.log, self._ratio)))
            width, height = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if 0 < width <= wide and 0 < height <= tall:
                left, top = _draw_index(wide - width + 1), _draw_index(tall - height + 1)
                return _cropped(x, left, top, width, height, self._size, self._interpolation)
        return CenterCrop(self._size, self._interpolation)(x)


class RandomFlipLeftRight(HybridBlock):
    """Flip horizontally with a given probability.

    Parameters
    ----------
    p : float
        The probability.
    """

    def __init__(self, p=0.5):
        super().__init__()
        self.p = p

    def hybrid_forward(self, F, x):
        """Flip an image, or return a copy."""
        return F.image.random_flip_left_right(x, p=self.p)


class RandomFlipTopBottom(HybridBlock):
    """Flip vertically with a given probability.

    Parameters
    ----------
    p : float
        The probability.
    """

    def __init__(self, p=0.5):
        super().__init__()
        self.p = p

    def hybrid_forward(self, F, x):
        """Flip an image, or return a copy."""
        return F.image.random_flip_top_bottom(x, p=self.p)


class Rotate(Block):
    """Rotate float32 images (channel, height, width) around their centre.

    Parameters
    ----------
    rotation_degrees : float
    zoom_in, zoom_out : bool
        See `mxcy.image.imrotate`.
    """

    def __init__(self, rotation_degrees, zoom_in=False, zoom_out=False):
        super().__init__()
        self._args = (rotation_degrees, zoom_in, zoom_out)

    def forward(self, x, *args):
        """Transform an image, or a batch."""
        _check_float32(x)
        return _with_rest(images.imrotate(x, *self._args), args)


class RandomRotation(Block):
    """Rotate float32 images (channel, height, width) by a random angle.

    Parameters
    ----------
    angle_limits : tuple of float
        Range of the angle, in degrees.
    zoom_in, zoom_out : bool
        See `mxcy.image.imrotate`.
    rotate_with_proba : float
        The probability of a rotation.

    Raises
    ------
    ValueError
        If the angles are in the wrong order, or `rotate_with_proba` is not a probability.
    """

    def __init__(self, angle_limits, zoom_in=False, zoom_out=False, rotate_with_proba=1.0):
        super().__init__()
        if angle_limits[0] >= angle_limits[1]:
            raise ValueError("`angle_limits` must be an ordered tuple")
        if not 0 <= rotate_with_proba <= 1:
            raise ValueError("Probability of rotating the image should be between 0 and 1")
        self._args = (angle_limits, zoom_in, zoom_out)
        self._rotate_with_proba = rotate_with_proba

    def forward(self, x, *args):
        """Transform an image, or a batch."""
        if random.random() <= self._rotate_with_proba:
            _check_float32(x)
            x = images.random_rotate(x, *self._args)
        return _with_rest(x, args)


def _check_float32(x):
    if x.dtype != np.float32:
        raise TypeError(
            "This transformation only supports float32. Consider calling it after ToTensor, given: "
            f"{np.dtype(x.dtype).name}"
        )


def _with_rest(x, others):
    return (x, *others) if others else x
