"""Augmentation of `ImageRecordIter`, for uint8 BGR images: geometry, then colours."""

import math

import numpy as np

from mxcy._library.opencv import opencv
from mxcy.base import MXNetError
from mxcy.io.image_colours import changed_colours
from mxcy.io.parameters import Parameter
from mxcy.ops.core.attrs import Bool, Float, FloatOrNone, Int

__all__ = ["AUGMENTATION", "ImageAugmenter", "chosen_interpolation"]

AUGMENTATION = (
    Parameter("resize", Int, -1, "Resize the shorter side to this first; -1 disables."),
    Parameter("rand_crop", Bool, False, "Crop at a random position instead of the centre."),
    Parameter("random_resized_crop", Bool, False, "Crop with random area and aspect ratio."),
    Parameter("max_rotate_angle", Int, 0, "Maximum rotation in either direction, in degrees."),
    Parameter("max_aspect_ratio", Float, 0.0, "Maximum (change of the) aspect ratio."),
    Parameter("min_aspect_ratio", FloatOrNone, None, "Minimum aspect ratio."),
    Parameter("max_shear_ratio", Float, 0.0, "Maximum shear."),
    Parameter("max_crop_size", Int, -1, "With min_crop_size: crop a random square up to this..."),
    Parameter("min_crop_size", Int, -1, "...and from this size, and resize it to data_shape."),
    Parameter("max_random_scale", Float, 1.0, "Maximum factor of random scaling."),
    Parameter("min_random_scale", Float, 1.0, "Minimum factor of random scaling."),
    Parameter("max_random_area", Float, 1.0, "Maximum area of random_resized_crop."),
    Parameter("min_random_area", Float, 1.0, "Minimum area of random_resized_crop."),
    Parameter("max_img_size", Float, 1e10, "Maximum side after scaling."),
    Parameter("min_img_size", Float, 0.0, "Minimum side after scaling."),
    Parameter("brightness", Float, 0.0, "Maximum relative change of the brightness."),
    Parameter("contrast", Float, 0.0, "Maximum relative change of the contrast."),
    Parameter("saturation", Float, 0.0, "Maximum relative change of the saturation."),
    Parameter("pca_noise", Float, 0.0, "Standard deviation of PCA noise on colours."),
    Parameter("random_h", Int, 0, "Maximum change of the hue, of 180."),
    Parameter("random_s", Int, 0, "Maximum change of the HLS saturation, of 255."),
    Parameter("random_l", Int, 0, "Maximum change of the HLS lightness, of 255."),
    Parameter("rotate", Int, -1, "Rotate by this many degrees; -1 disables."),
    Parameter("fill_value", Int, 255, "Value of the padding."),
    Parameter(
        "inter_method",
        Int,
        1,
        "0 nearest, 1 bilinear, 2 bicubic, 3 area, 4 Lanczos, 9 chosen by size, 10 random.",
    ),
    Parameter("pad", Int, 0, "Padding on all sides."),
)

_BY_SIZE, _AT_RANDOM = 9, 10
_ATTEMPTS = 10


def chosen_interpolation(method, old, new, draw):
    """Return the OpenCV constant of an interpolation.

    Parameters
    ----------
    method : int
        The parameter `inter_method`.
    old, new : tuple of int
        (height, width) before and after.
    draw : random.Random
    """
    if method == _BY_SIZE:
        if new[0] > old[0] and new[1] > old[1]:
            return 2
        return 3 if new[0] < old[0] and new[1] < old[1] else 1
    return draw.randint(0, 4) if method == _AT_RANDOM else method


class ImageAugmenter:
    """Augments images.

    Parameters
    ----------
    options : namespace
        Values of `AUGMENTATION` and `data_shape`.

    Raises
    ------
    MXNetError
        If parameters contradict each other.
    """

    def __init__(self, options):
        self._cv2 = opencv("ImageRecordIter")
        self._o = o = options
        self._target = tuple(o.data_shape[1:])
        self._fill = (o.fill_value,) * 3
        squares = (o.max_crop_size, o.min_crop_size) != (-1, -1)
        ratios = o.max_aspect_ratio != 0 or o.min_aspect_ratio is not None
        self._affine = (
            o.max_rotate_angle > 0
            or o.max_shear_ratio > 0
            or o.rotate > 0
            or (o.max_random_scale, o.min_random_scale) != (1.0, 1.0)
            or (not o.random_resized_crop and ratios)
            or (o.max_img_size, o.min_img_size) != (1e10, 0.0)
        )
        for wrong, message in (
            (o.inter_method not in (0, 1, 2, 3, 4, 9, 10), "inter_method: expected 0 to 4, 9, 10"),
            (
                squares and not 0 < o.min_crop_size <= o.max_crop_size,
                "min_crop_size and max_crop_size: expected a range of positive sizes",
            ),
            (
                o.random_resized_crop and (squares or o.rand_crop),
                "random_resized_crop goes with neither rand_crop nor crop sizes",
            ),
            (
                o.min_aspect_ratio is not None and not 0 < o.min_aspect_ratio <= o.max_aspect_ratio,
                "min_aspect_ratio and max_aspect_ratio: expected a range of positive ratios",
            ),
            (o.min_random_area > o.max_random_area, "min_random_area is above max_random_area"),
            (o.min_random_scale > o.max_random_scale, "min_random_scale is above max_random_scale"),
            (o.min_img_size > o.max_img_size, "min_img_size is above max_img_size"),
            (o.pad < 0, "pad: expected no negative number"),
        ):
            if wrong:
                raise MXNetError(f"ImageRecordIter: {message}")
        self._crop = self._resized_crop if o.random_resized_crop else self._plain_crop
        if squares:
            self._crop = self._square_crop
        self._colours = any(
            (
                o.brightness,
                o.contrast,
                o.saturation,
                o.pca_noise,
                o.random_h,
                o.random_s,
                o.random_l,
            )
        )

    def __call__(self, pixels, draw):
        """Augment an image.

        Parameters
        ----------
        pixels : numpy.ndarray of uint8
            (height, width) or (height, width, channel)
        draw : random.Random

        Returns
        -------
        numpy.ndarray of uint8
            Of the height and width in `data_shape`.
        """
        o = self._o
        if o.resize != -1:
            pixels = self._resized(pixels, _shorter_side(pixels, o.resize), draw)
        if self._affine:
            pixels = self._transformed(pixels, draw)
        if o.pad > 0:
            margins = (o.pad,) * 4
            pixels = self._cv2.copyMakeBorder(
                pixels, *margins, self._cv2.BORDER_CONSTANT, value=self._fill
            )
        pixels = self._crop(pixels, draw)
        return changed_colours(self._cv2, pixels, o, draw) if self._colours else pixels

    def _resized(self, pixels, size, draw):
        """Resize an image to (height, width)."""
        if pixels.shape[:2] == size:
            return pixels
        method = chosen_interpolation(self._o.inter_method, pixels.shape[:2], size, draw)
        return self._cv2.resize(pixels, size[::-1], interpolation=method)

    def _transformed(self, pixels, draw):
        """Rotate, shear, scale and stretch an image around its centre."""
        o = self._o
        height, width = pixels.shape[:2]
        shear = draw.uniform(-o.max_shear_ratio, o.max_shear_ratio)
        angle = draw.randint(-o.max_rotate_angle, o.max_rotate_angle)
        angle = math.radians(o.rotate if o.rotate > 0 else angle)
        cos, sin = math.cos(angle), math.sin(angle)
        scale = draw.uniform(o.min_random_scale, o.max_random_scale)
        if o.min_aspect_ratio is None:
            ratio = draw.uniform(1 - o.max_aspect_ratio, 1 + o.max_aspect_ratio)
        else:
            ratio = draw.uniform(o.min_aspect_ratio, o.max_aspect_ratio)
        down = 2 * scale / (1 + ratio)
        across = ratio * down
        new_width, new_height = (
            max(o.min_img_size, min(o.max_img_size, scale * side)) for side in (width, height)
        )
        matrix = np.array(
            [
                [down * cos - shear * sin * across, down * sin + shear * cos * across, 0],
                [-sin * across, cos * across, 0],
            ],
            np.float32,
        )
        middle = matrix[:, :2] @ np.array([width, height], np.float32)
        matrix[:, 2] = (np.array([new_width, new_height], np.float32) - middle) / 2
        size = (int(new_height), int(new_width))
        method = chosen_interpolation(o.inter_method, (height, width), size, draw)
        return self._cv2.warpAffine(
            pixels,
            matrix,
            size[::-1],
            flags=method,
            borderMode=self._cv2.BORDER_CONSTANT,
            borderValue=self._fill,
        )

    def _place(self, pixels, size, draw):
        """Crop to (height, width), at the centre or a random position."""
        spare = pixels.shape[0] - size[0], pixels.shape[1] - size[1]
        if self._o.rand_crop:
            top, left = draw.randint(0, spare[0]), draw.randint(0, spare[1])
        else:
            top, left = spare[0] // 2, spare[1] // 2
        return pixels[top : top + size[0], left : left + size[1]]

    def _plain_crop(self, pixels, draw):
        """Crop to the target size, enlarging smaller images first."""
        for axis in (0, 1):
            side, wanted = pixels.shape[axis], self._target[axis]
            if side < wanted:
                size = [int(wanted / side * pixels.shape[1 - axis])] * 2
                size[axis] = wanted
                pixels = self._cv2.resize(pixels, tuple(size[::-1]))  # bilinear, as in MXNet
        return self._place(pixels, self._target, draw)

    def _square_crop(self, pixels, draw):
        """Crop a square of random size and resize it."""
        o = self._o
        if min(pixels.shape[:2]) < o.max_crop_size:
            raise MXNetError(
                f"ImageRecordIter: an image of {pixels.shape[1]} x {pixels.shape[0]} is smaller "
                f"than max_crop_size, {o.max_crop_size}"
            )
        size = draw.randint(o.min_crop_size, o.max_crop_size)
        return self._resized(self._place(pixels, (size, size), draw), self._target, draw)

    def _resized_crop(self, pixels, draw):
        """Crop with random area and aspect ratio and resize; the centre if no attempt fits."""
        o = self._o
        height, width = pixels.shape[:2]
        low, high = o.min_aspect_ratio, o.max_aspect_ratio
        if low is None:
            low, high = 1 - high, 1 + high
        for _ in range(_ATTEMPTS):
            area = draw.uniform(o.min_random_area, o.max_random_area) * height * width
            ratio = draw.uniform(low, high)
            w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if draw.random() > 0.5:
                w, h = h, w
            if 0 < w <= width and 0 < h <= height:
                top, left = draw.randint(0, height - h), draw.randint(0, width - w)
                return self._resized(pixels[top : top + h, left : left + w], self._target, draw)
        size = min(height, width)
        top, left = (height - size) // 2, (width - size) // 2
        middle = pixels[top : top + size, left : left + size]
        return self._resized(middle, self._target, draw)


def _shorter_side(pixels, size):
    """The (height, width) with `size` as the shorter side."""
    height, width = pixels.shape[:2]
    if height > width:
        return size * height // width, size
    return size, size * width // height
