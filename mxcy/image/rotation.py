"""Rotation of images around their centre."""

from numbers import Number

import numpy as np

from mxcy import ndarray as nd

__all__ = ["imrotate", "random_rotate"]


def imrotate(src, rotation_degrees, zoom_in=False, zoom_out=False):
    """Rotate images around their centre; pixels from outside are 0.

    Parameters
    ----------
    src : NDArray of float32
        (channel, height, width), optionally with a batch axis in front.
    rotation_degrees : float or NDArray
        The angle, or one per image of the batch.
    zoom_in : bool
        Enlarge the image until nothing from outside is visible.
    zoom_out : bool
        Shrink the image until all of it is visible.

    Returns
    -------
    NDArray

    Raises
    ------
    TypeError
        If the images are not float32, or there are several angles for a single image.
    ValueError
        If `src` is not an image, the number of angles is wrong, or both zooms are requested.
    """
    if zoom_in and zoom_out:
        raise ValueError("`zoom_in` and `zoom_out` cannot be both True")
    if src.dtype != np.float32:
        raise TypeError("Only `float32` images are supported by this function")
    if src.ndim not in (3, 4):
        raise ValueError(f"Only 3D and 4D are supported by this function, got {src.shape}")
    if src.ndim == 3 and not isinstance(rotation_degrees, Number):
        raise TypeError("imrotate: a single image takes a number as its angle")
    batch = nd.expand_dims(src, axis=0) if src.ndim == 3 else src
    if isinstance(rotation_degrees, Number):
        rotation_degrees = [rotation_degrees] * len(batch)
    if isinstance(rotation_degrees, nd.NDArray):
        rotation_degrees = rotation_degrees.asnumpy()
    angles = np.radians(np.asarray(rotation_degrees, np.float32)).reshape(-1, 1, 1)
    if len(angles) != len(batch):
        raise ValueError(f"the number of images, {len(batch)}, and angles, {len(angles)}, differ")
    grid = _grid(angles, *src.shape[-2:]) * _zoom(angles, *src.shape[-2:], zoom_in, zoom_out)
    rotated = nd.BilinearSampler(batch, nd.array(grid, ctx=src.context))
    return rotated[0] if src.ndim == 3 else rotated


def _grid(angles, height, width):
    """Source coordinates of each pixel, (image, 2, height, width): x and y from -1 to 1."""
    down, across = (height - 1) / 2, (width - 1) / 2
    y, x = np.arange(height)[:, None] - down, np.arange(width) - across
    cos, sin = np.cos(angles), np.sin(angles)
    return np.stack([(x * cos - y * sin) / across, (x * sin + y * cos) / down], axis=1)


def _zoom(angles, height, width, zoom_in, zoom_out):
    """Scale factor of each image's grid."""
    if not (zoom_in or zoom_out):
        return 1.0
    cos, sin = np.abs(np.cos(angles)), np.abs(np.sin(angles))
    # bounding box of the rotated image
    box_width, box_height = width * cos + height * sin, width * sin + height * cos
    if zoom_out:
        return np.maximum(box_width / width, box_height / height)[:, None]
    return np.minimum(width / box_width, height / box_height)[:, None]


def random_rotate(src, angle_limits, zoom_in=False, zoom_out=False):
    """Rotate images by random angles.

    Parameters
    ----------
    src : NDArray of float32
        (channel, height, width), optionally with a batch axis in front.
    angle_limits : tuple of float
        Range of the angles, drawn from `numpy.random` separately for each image.
    zoom_in, zoom_out : bool
        See `imrotate`.

    Returns
    -------
    NDArray
    """
    if src.ndim == 3:
        return imrotate(src, float(np.random.uniform(*angle_limits)), zoom_in, zoom_out)
    angles = nd.array(np.random.uniform(*angle_limits, size=len(src)))
    return imrotate(src, angles, zoom_in, zoom_out)
