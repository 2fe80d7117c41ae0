"""Image resizing with OpenCV's results."""

import math

import numpy as np

from mxcy._library.opencv import opencv
from mxcy.ops.core.attrs import Bool, Int, Shape
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.params import IMAGE_RESIZE
from mxcy.ops.core.record import native, op, sample, stop, values
from mxcy.ops.image.transforms import check_image

__all__ = ["check_interpolation", "is_left_to_opencv", "resized"]

_NEAREST, _BILINEAR = 0, 1
_CHANNELS = 4  # that OpenCV takes with any interpolation
_ONE = 2048  # bits of OpenCV's integer weights for bytes


def _target(a, height, width):
    """Return the new (height, width)."""
    if len(a.size) == 2:
        return a.size[1], a.size[0]
    (size,) = a.size
    if not a.keep_ratio:
        return size, size
    if -1 in (height, width):
        return -1, -1
    if height > width:
        return size * height // width, size
    return size, size * width // height


def _neighbours(old, new, are_rows):
    """Return both neighbours of each new position along a dimension, and the second's weight.

    At borders OpenCV takes one pixel in a row, but adds the weighted parts of one row.
    """
    place = ((np.arange(new) + 0.5) * (old / new) - 0.5).astype(np.float32)
    first = np.floor(place).astype(np.intp)
    weight = place - first.astype(np.float32)
    if not are_rows:
        weight[(first < 0) | (first >= old - 1)] = 0
        first = np.maximum(first, 0)
    return np.clip(first, 0, old - 1), np.minimum(first + 1, old - 1), weight


def _nearest(data, height, width):
    rows, columns = (
        np.minimum((np.arange(new) * (1 / (new / old))).astype(np.intp), old - 1)
        for new, old in ((height, data.shape[-3]), (width, data.shape[-2]))
    )
    return data[..., rows[:, None], columns, :]


def _halved(data, height, width):
    """Average blocks of 2 x 2 pixels: bilinear interpolation at exactly half the size."""
    squares = data.reshape(*data.shape[:-3], height, 2, width, 2, data.shape[-1])
    if data.dtype == np.uint8:
        return ((squares.sum((-4, -2), dtype=np.int32) + 2) >> 2).astype(np.uint8)
    return squares.sum((-4, -2)) * data.dtype.type(0.25)


def _bilinear(data, height, width):
    if data.shape[-3:-1] == (2 * height, 2 * width):
        return _halved(data, height, width)
    above, below, down = _neighbours(data.shape[-3], height, True)
    left, right, across = _neighbours(data.shape[-2], width, False)
    down, across = down[:, None, None], across[:, None]
    if data.dtype != np.uint8:
        rows = (
            data[..., y, :, :][..., left, :] * (1 - across)
            + data[..., y, :, :][..., right, :] * across
            for y in (above, below)
        )
        upper, lower = rows
        return (upper * (1 - down) + lower * down).astype(data.dtype)
    weights = [np.rint(w * _ONE).astype(np.int32) for w in (1 - across, across, 1 - down, down)]
    upper, lower = (
        data[..., y, :, :][..., left, :] * weights[0]
        + data[..., y, :, :][..., right, :] * weights[1]
        for y in (above, below)
    )
    total = (weights[2] * (upper >> 4) >> 16) + (weights[3] * (lower >> 4) >> 16)
    return np.clip((total + 2) >> 2, 0, 255).astype(np.uint8)


def _by_opencv(data, height, width, interp):
    require(isinstance(data, np.ndarray), f"interp: expected 0 or 1 on a GPU, got {interp}")
    resize = opencv("_image_resize").resize
    result = np.empty((*data.shape[:-3], height, width, data.shape[-1]), data.dtype)
    images = data.reshape(-1, *data.shape[-3:])
    for image, to in zip(images, result.reshape(-1, *result.shape[-3:]), strict=True):
        for first in range(0, image.shape[-1], _CHANNELS):
            part = np.ascontiguousarray(image[..., first : first + _CHANNELS])
            scaled = resize(part, (width, height), interpolation=interp)
            # OpenCV drops a single channel.
            to[..., first : first + _CHANNELS] = scaled.reshape(height, width, -1)
    return result


def check_interpolation(interp):
    """Raise if `resized` does not support an interpolation."""
    known = interp in range(5)
    names = "0 (nearest), 1 (bilinear), 2 (bicubic), 3 (area) or 4 (Lanczos)"
    require(known, f"interp: expected {names}, got {interp}")


def resized(data, height, width, interp):
    """Resize images (..., height, width, channel) as OpenCV does."""
    if interp == _NEAREST:
        return _nearest(data, height, width)
    if interp == _BILINEAR:
        return _bilinear(data, height, width)
    return _by_opencv(data, height, width, interp)


def is_left_to_opencv(a, ins, outs):
    """The reason why kernels do not resize with an interpolation, or None."""
    return None if a.interp in (_NEAREST, _BILINEAR) else "OpenCV's interpolation"


def _params(a, ins, outs):
    shape = ins[0].shape
    return {
        "batch": math.prod(shape[:-3]),
        "channels": shape[-1],
        "source": shape[-3:-1],
        "target": outs[0].shape[-3:-1],
        "nearest": a.interp == _NEAREST,
    }


@op("_image_resize", aliases=("_npx__image_resize",), dtypes=("uint8", "float32", "float64"))
class Resize:
    """Resize an image (height, width, channel), or each image of a batch.

    `size` is (width, height), or one integer: for both, or with `keep_ratio` for the shorter side.
    `interp` 0 is nearest-neighbour, 1 bilinear; 2 bicubic, 3 area and 4 Lanczos interpolation are
    OpenCV's, which must be installed; they are not for GPUs.
    """

    size: Shape = ()
    keep_ratio: Bool = False
    interp: Int = 1

    def infer(a, data):
        require(
            len(a.size) in (1, 2) and min(a.size) > 0,
            f"size: expected one or two positive numbers, got {a.size}",
        )
        check_interpolation(a.interp)
        if not check_image(data):
            return Spec(None, data.dtype)
        *batch, height, width, channels = data.shape
        require(0 not in (height, width), f"data: an image without pixels, {data.shape}")
        return Spec((*batch, *_target(a, height, width), channels), data.dtype)

    grad = stop
    kernels = (
        native(
            "image_resize",
            struct=IMAGE_RESIZE,
            params=_params,
            when=is_left_to_opencv,
            work=lambda a, ins, outs: 16 * outs[0].size,
        ),
    )

    def ref(a, xp, data):
        return resized(data, *_target(a, *data.shape[-3:-1]), a.interp)

    samples = (
        sample(values(0, 256, (5, 7, 3), "uint8"), size=(4, 9), grad=False),
        sample(values(0, 256, (2, 4, 6, 1), "uint8"), size=(3, 2), grad=False),
        sample((4, 6, 3), size=3, keep_ratio=True, grad=False),
        sample((4, 4, 1), size=2, grad=False),
        sample((3, 5, 2), size=7, interp=0, grad=False),
    )
