"""Cropping images, and resizing with the aspect ratio kept."""

import math
import random
import warnings

from mxcy.base import numeric_types
from mxcy.image.reading import imresize

__all__ = [
    "center_crop",
    "fixed_crop",
    "interpolation",
    "random_crop",
    "random_size_crop",
    "resize_short",
    "scale_down",
]

_NEAREST, _BILINEAR, _BICUBIC, _AREA = range(4)
_BY_SIZE, _AT_RANDOM = 9, 10


def interpolation(interp, sizes=()):
    """Return the OpenCV constant of an interpolation.

    Parameters
    ----------
    interp : int
        OpenCV's constant, 0 to 4; 9 chooses by size: area to shrink, bicubic to enlarge; 10 is
        random.
    sizes : tuple of int
        Old height and width, new height and width.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If `interp` is none of these.
    """
    if interp == _BY_SIZE:
        if not sizes:
            return _BICUBIC
        height, width, new_height, new_width = sizes
        if new_height > height and new_width > width:
            return _BICUBIC
        return _AREA if new_height < height and new_width < width else _BILINEAR
    if interp == _AT_RANDOM:
        return random.randint(0, 4)
    if interp not in (0, 1, 2, 3, 4):
        raise ValueError(f"Unknown interp method {interp}: expected 0 to 4, 9 or 10")
    return interp


def scale_down(src_size, size):
    """Shrink a size, keeping its aspect ratio, until it fits into an image.

    Parameters
    ----------
    src_size : tuple of int
        Width and height of the image.
    size : tuple of int
        Desired width and height.

    Returns
    -------
    tuple of int
        Width and height.
    """
    width, height = size
    source_width, source_height = src_size
    if source_height < height:
        width, height = float(width * source_height) / height, source_height
    if source_width < width:
        width, height = source_width, float(height * source_width) / width
    return int(width), int(height)


def resize_short(src, size, interp=2):
    """Resize an image so that its shorter side is `size`.

    Parameters
    ----------
    src : NDArray
        (height, width, channel)
    size : int
    interp : int
        0 nearest, 1 bilinear, 2 bicubic, 3 area, 4 Lanczos, 9 chosen by size, 10 random.

    Returns
    -------
    NDArray
    """
    height, width = src.shape[:2]
    if height > width:
        new_height, new_width = size * height // width, size
    else:
        new_height, new_width = size, size * width // height
    sizes = (height, width, new_height, new_width)
    return imresize(src, new_width, new_height, interp=interpolation(interp, sizes))


def fixed_crop(src, x0, y0, w, h, size=None, interp=2):
    """Crop an image at a given position.

    Parameters
    ----------
    src : NDArray
        (height, width, channel)
    x0, y0, w, h : int
        Left, top, width and height of the crop.
    size : tuple of int, optional
        The width and height of the result.
    interp : int
        See `resize_short`.

    Returns
    -------
    NDArray
    """
    part = src[y0 : y0 + h, x0 : x0 + w]
    if size is None or (w, h) == tuple(size):
        return part
    return imresize(part, *size, interp=interpolation(interp, (h, w, size[1], size[0])))


def center_crop(src, size, interp=2):
    """Crop the centre; from a smaller image the largest crop of that aspect ratio, enlarged.

    Parameters
    ----------
    src : NDArray
        (height, width, channel)
    size : tuple of int
        Width and height of the result.
    interp : int
        See `resize_short`.

    Returns
    -------
    out : NDArray
    place : tuple of int
        Left, top, width and height of the crop.
    """
    height, width = src.shape[:2]
    w, h = scale_down((width, height), size)
    x0, y0 = int((width - w) / 2), int((height - h) / 2)
    return fixed_crop(src, x0, y0, w, h, size, interp), (x0, y0, w, h)


def random_crop(src, size, interp=2):
    """Crop at a random position; for smaller images see `center_crop`.

    Parameters
    ----------
    src : NDArray
        (height, width, channel)
    size : tuple of int
        Width and height of the result.
    interp : int
        See `resize_short`.

    Returns
    -------
    out : NDArray
    place : tuple of int
        Left, top, width and height of the crop.
    """
    height, width = src.shape[:2]
    w, h = scale_down((width, height), size)
    x0, y0 = random.randint(0, width - w), random.randint(0, height - h)
    return fixed_crop(src, x0, y0, w, h, size, interp), (x0, y0, w, h)


def random_size_crop(src, size, area, ratio, interp=2, **kwargs):
    """Crop with random size, aspect ratio and position.

    After ten sizes that do not fit, falls back to `center_crop`.

    Parameters
    ----------
    src : NDArray
        (height, width, channel)
    size : tuple of int
        Width and height of the result.
    area : float or tuple of float
        Range of the crop's share of the image's area; a single number is the minimum.
    ratio : tuple of float
        Range of the ratio of width to height.
    interp : int
        See `resize_short`.

    Returns
    -------
    out : NDArray
    place : tuple of int
        Left, top, width and height of the crop.
    """
    if "min_area" in kwargs:
        warnings.warn(
            "`min_area` is deprecated. Please use `area` instead.", DeprecationWarning, stacklevel=2
        )
        area = kwargs.pop("min_area")
    assert not kwargs, f"unexpected keyword arguments for `random_size_crop`: {sorted(kwargs)}"
    if isinstance(area, numeric_types):
        area = (area, 1.0)
    height, width = src.shape[:2]
    for _ in range(10):
        target = random.uniform(*area) * height * width
        proportion = math.exp(random.uniform(math.log(ratio[0]), math.log(ratio[1])))
        w, h = round(math.sqrt(target * proportion)), round(math.sqrt(target / proportion))
        if w <= width and h <= height:
            x0, y0 = random.randint(0, width - w), random.randint(0, height - h)
            return fixed_crop(src, x0, y0, w, h, size, interp), (x0, y0, w, h)
    return center_crop(src, size, interp)
