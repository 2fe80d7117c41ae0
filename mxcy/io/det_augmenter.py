"""Augmentation of `ImageDetRecordIter`, for uint8 BGR images with boxes."""

import math

import numpy as np

from mxcy._library.opencv import opencv
from mxcy.base import MXNetError
from mxcy.io.image_augmenter import chosen_interpolation
from mxcy.io.image_colours import shifted_hls
from mxcy.io.parameters import Parameter
from mxcy.ops.core.attrs import Enum, Float, FloatTuple, Int, Shape

__all__ = ["DET_AUGMENTATION", "DetImageAugmenter", "ObjectLabel"]


def _limits(what, text):
    """Parameters of a minimum and a maximum, with one number per crop sampler."""
    return (
        Parameter(
            f"min_crop_{what}",
            FloatTuple,
            (1.0,) if "ratios" in what else (0.0,),
            f"Per crop sampler: minimum {text}.",
        ),
        Parameter(f"max_crop_{what}", FloatTuple, (1.0,), f"Maximum {text}."),
    )


DET_AUGMENTATION = (
    Parameter("resize", Int, -1, "Resize the shorter side to this first; -1 disables."),
    Parameter("rand_crop_prob", Float, 0.0, "Probability of a crop."),
    *_limits("scales", "side of the crop relative to the image's"),
    *_limits("aspect_ratios", "ratio of width to height"),
    *_limits("overlaps", "intersection over union with an object"),
    *_limits("sample_coverages", "intersection with an object relative to the crop's area"),
    *_limits("object_coverages", "intersection with an object relative to its area"),
    Parameter("num_crop_sampler", Int, 1, "Number of crop samplers."),
    Parameter(
        "crop_emit_mode",
        Enum("center", "overlap"),
        "center",
        "Keep objects with their centre in the crop, or with enough overlap.",
    ),
    Parameter("emit_overlap_thresh", Float, 0.3, "Minimum overlap of objects to keep."),
    Parameter("max_crop_trials", Shape, (25,), "Per crop sampler: number of attempts."),
    Parameter("rand_pad_prob", Float, 0.0, "Probability of padding."),
    Parameter("max_pad_scale", Float, 1.0, "Maximum padded side, as a multiple."),
    Parameter("max_random_hue", Int, 0, "Maximum change of the hue, of 180."),
    Parameter("random_hue_prob", Float, 0.0, "Probability of a change."),
    Parameter("max_random_saturation", Int, 0, "Maximum change of the saturation, of 255."),
    Parameter("random_saturation_prob", Float, 0.0, "Probability of a change."),
    Parameter("max_random_illumination", Int, 0, "Maximum change of the lightness, of 255."),
    Parameter("random_illumination_prob", Float, 0.0, "Probability of a change."),
    Parameter("max_random_contrast", Float, 0.0, "Maximum deviation of the factor from 1."),
    Parameter("random_contrast_prob", Float, 0.0, "Probability of a change."),
    Parameter("rand_mirror_prob", Float, 0.0, "Probability of a horizontal flip."),
    Parameter("fill_value", Int, 127, "Value of the padding."),
    Parameter("inter_method", Int, 1, "See `ImageRecordIter`."),
    Parameter(
        "resize_mode",
        Enum("fit", "force", "shrink"),
        "force",
        "force: resize to data_shape; fit: keep the aspect ratio; shrink: fit large images.",
    ),
)

_SAMPLER = tuple(
    f"{end}_crop_{what}"
    for what in ("scales", "aspect_ratios", "overlaps", "sample_coverages", "object_coverages")
    for end in ("min", "max")
)


class ObjectLabel:
    """The label of an image: a header, and one row per object.

    A row is class, left, top, right and bottom as fractions of the width and height, and optional
    values.

    Parameters
    ----------
    numbers : numpy.ndarray of float32
        Length of the header (including these two numbers), length of a row, and the rest.

    Raises
    ------
    MXNetError
        If the numbers are inconsistent.
    """

    def __init__(self, numbers):
        front, width = (int(n) for n in numbers[:2]) if len(numbers) > 6 else (0, 0)
        if front < 2 or width < 5 or (len(numbers) - front) % width:
            raise MXNetError(
                f"ImageDetRecordIter: a label of {len(numbers)} values, {numbers[:4]}..., is not a "
                "header followed by objects"
            )
        self.front = numbers[:front]
        self.objects = numbers[front:].reshape(-1, width).copy()

    def numbers(self):
        """The label as a flat array."""
        return np.concatenate([self.front, self.objects.ravel()])

    def mirror(self):
        """Flip horizontally."""
        self.objects[:, (1, 3)] = 1 - self.objects[:, (3, 1)]

    def move(self, x, y, width, height):
        """Convert coordinates to another rectangle, given in fractions of the image's size."""
        self.objects[:, (1, 3)] = (self.objects[:, (1, 3)] - x) / width
        self.objects[:, (2, 4)] = (self.objects[:, (2, 4)] - y) / height

    def crop(self, x, y, width, height, kept):
        """Convert coordinates to a crop, and drop the objects that are not `kept`."""
        self.objects = self.objects[kept]
        self.move(x, y, width, height)
        self.objects[:, 1:5] = np.clip(self.objects[:, 1:5], 0, 1)

    def areas(self, x, y, width, height):
        """Areas of the objects, and of their intersections with a rectangle."""
        boxes = self.objects[:, 1:5]
        inside = np.hstack(
            [np.maximum(boxes[:, :2], (x, y)), np.minimum(boxes[:, 2:], (x + width, y + height))]
        )
        return tuple(np.maximum(b[:, 2:] - b[:, :2], 0).prod(axis=1) for b in (boxes, inside))


class DetImageAugmenter:
    """Augments images and labels.

    Parameters
    ----------
    options : namespace
        Values of `DET_AUGMENTATION` and `data_shape`.

    Raises
    ------
    MXNetError
        If a parameter of the crop samplers does not have one number per sampler.
    """

    def __init__(self, options):
        self._cv2, self._o = opencv("ImageDetRecordIter"), options
        count = options.num_crop_sampler
        columns = []
        for name in (*_SAMPLER, "max_crop_trials"):
            values = getattr(options, name)
            if len(values) not in (1, count):
                raise MXNetError(
                    f"ImageDetRecordIter: {name} has {len(values)} numbers, but num_crop_sampler "
                    f"is {count}"
                )
            columns.append(values * count if len(values) == 1 else values)
        self._samplers = list(zip(*columns, strict=True))
        if options.inter_method not in (0, 1, 2, 3, 4, 9, 10):
            raise MXNetError("ImageDetRecordIter: inter_method: expected 0 to 4, 9, 10")

    def __call__(self, pixels, label, draw):
        """Augment an image, and its label in place.

        Parameters
        ----------
        pixels : numpy.ndarray of uint8
            (height, width) or (height, width, channel)
        label : ObjectLabel
        draw : random.Random

        Returns
        -------
        numpy.ndarray of uint8
            Of the size in `data_shape`, or smaller if `resize_mode` is not 'force'.
        """
        o = self._o
        if o.resize != -1:
            ratio = o.resize / min(pixels.shape[:2])
            pixels = self._resized(pixels, [int(ratio * side) for side in pixels.shape[:2]], draw)
        pixels = self._coloured(pixels, draw)
        if _happens(o.rand_mirror_prob, draw):
            pixels = self._cv2.flip(pixels, 1)
            label.mirror()
        if o.max_pad_scale > 1 and _happens(o.rand_pad_prob, draw):
            pixels = self._padded(pixels, label, draw)
        if _happens(o.rand_crop_prob, draw):
            pixels = self._cropped(pixels, label, draw)
        return self._fitted(pixels, draw)

    def _resized(self, pixels, size, draw):
        if tuple(size) == pixels.shape[:2]:
            return pixels
        method = chosen_interpolation(self._o.inter_method, pixels.shape[:2], size, draw)
        return self._cv2.resize(pixels, (size[1], size[0]), interpolation=method)

    def _fitted(self, pixels, draw):
        o = self._o
        target = o.data_shape[1:]
        if o.resize_mode == "force":
            return self._resized(pixels, target, draw)
        ratio = min(wanted / side for wanted, side in zip(target, pixels.shape[:2], strict=True))
        if o.resize_mode == "shrink" and ratio >= 1:
            return pixels
        size = [max(1, int(side * ratio + 1e-6)) for side in pixels.shape[:2]]
        return self._resized(pixels, size, draw)

    def _coloured(self, pixels, draw):
        o = self._o
        shift = [
            int(draw.uniform(-most, most)) if _happens(probability, draw) else 0
            for most, probability in (
                (o.max_random_hue, o.random_hue_prob),
                (o.max_random_illumination, o.random_illumination_prob),
                (o.max_random_saturation, o.random_saturation_prob),
            )
        ]
        if any(shift) and pixels.ndim == 3 and pixels.shape[2] == 3:
            pixels = shifted_hls(self._cv2, pixels, shift)
        if _happens(o.random_contrast_prob, draw):
            factor = 1 + draw.uniform(-o.max_random_contrast, o.max_random_contrast)
            pixels = self._cv2.addWeighted(pixels, factor, pixels, 0, 0)
        return pixels

    def _padded(self, pixels, label, draw):
        height, width = pixels.shape[:2]
        scale = draw.uniform(1, self._o.max_pad_scale)
        down, right = int((scale - 1) * height), int((scale - 1) * width)
        top, left = draw.randint(0, down), draw.randint(0, right)
        label.move(-left / width, -top / height, 1 + right / width, 1 + down / height)
        return self._cv2.copyMakeBorder(
            pixels,
            top,
            down - top,
            left,
            right - left,
            self._cv2.BORDER_CONSTANT,
            value=(self._o.fill_value,) * 3,
        )

    def _cropped(self, pixels, label, draw):
        """The first acceptable crop of the samplers, tried in random order."""
        height, width = pixels.shape[:2]
        for *limits, trials in draw.sample(self._samplers, len(self._samplers)):
            for _ in range(trials):
                x, y, w, h = place = _random_part(*limits[:4], width / height, draw)
                kept = self._kept(label, place, limits[4:])
                if kept is None:
                    continue
                top, left = int(y * height), int(x * width)
                rows, columns = max(1, int(h * height)), max(1, int(w * width))
                label.crop(left / width, top / height, columns / width, rows / height, kept)
                return pixels[top : top + rows, left : left + columns]
        return pixels

    def _kept(self, label, place, limits):
        """Mask of the objects kept in a crop; None if it violates the limits or none is kept."""
        x, y, w, h = place
        areas, inside = label.areas(*place)
        areas = np.maximum(areas, 1e-12)
        shares = (inside / (areas + w * h - inside), inside / (w * h), inside / areas)
        good = np.ones(len(areas), bool)
        for share, least, most in zip(shares, limits[::2], limits[1::2], strict=True):
            if least > 0 or most < 1:
                good &= (share >= least) & (share <= most)
        if not good.any():
            return None
        boxes = label.objects[:, 1:5]
        middle_x, middle_y = (boxes[:, 0] + boxes[:, 2]) / 2, (boxes[:, 1] + boxes[:, 3]) / 2
        if self._o.crop_emit_mode == "center":
            kept = (middle_x >= x) & (middle_x < x + w) & (middle_y >= y) & (middle_y < y + h)
        else:
            kept = shares[2] > self._o.emit_overlap_thresh
        return kept if kept.any() else None


def _happens(probability, draw):
    return probability > 0 and draw.random() < probability


def _random_part(least, most, least_ratio, most_ratio, image_ratio, draw):
    """Draw a rectangle: left, top, width and height as fractions of the image's size."""
    scale = max(draw.uniform(least, most), 1e-6)
    low, high = max(least_ratio / image_ratio, scale**2), min(most_ratio / image_ratio, scale**-2)
    ratio = math.sqrt(draw.uniform(low, max(low, high)))
    width, height = min(1.0, scale * ratio), min(1.0, scale / ratio)
    return draw.uniform(0, 1 - width), draw.uniform(0, 1 - height), width, height
