"""Augmenters for detection that crop or pad an image at random."""

import math
import random

import numpy as np

from mxcy._base.warning import warn
from mxcy.base import numeric_types
from mxcy.image.crops import fixed_crop
from mxcy.image.det_augmenter import DetAugmenter
from mxcy.image.reading import copyMakeBorder

__all__ = ["DetRandomCropAug", "DetRandomPadAug"]

_CONSTANT_ISOLATED = 16  # cv2.BORDER_CONSTANT | cv2.BORDER_ISOLATED
_LEAST_PIXELS = 2  # smaller boxes are dropped


def _range(value):
    return (value, value) if isinstance(value, numeric_types) else tuple(value)


def _areas(boxes):
    """The areas of boxes (left, top, right, bottom)."""
    return np.maximum(0, boxes[:, 3] - boxes[:, 1]) * np.maximum(0, boxes[:, 2] - boxes[:, 0])


class _Random(DetAugmenter):
    """Base of both augmenters, which checks their ranges.

    Parameters
    ----------
    least_area : float
        Lower limit (exclusive) of the maximum area.
    **kwargs
        All parameters of the augmenter, including the ranges; also for `dumps`.
    """

    def __init__(self, least_area, **kwargs):
        super().__init__(**kwargs)
        self.aspect_ratio_range = _range(kwargs["aspect_ratio_range"])
        self.area_range, self.max_attempts = _range(kwargs["area_range"]), kwargs["max_attempts"]
        self.enabled = True
        ranges = (
            ("area_range", self.area_range, self.area_range[1] <= least_area),
            ("aspect_ratio_range", self.aspect_ratio_range, self.aspect_ratio_range[0] <= 0),
        )
        for name, (low, high), bad in ranges:
            if bad or low > high:
                self.enabled = False
                warn(f"Skip {type(self).__name__} due to invalid {name}: {(low, high)}")
                return

    def _heights(self, height, width):
        """Draw an aspect ratio; return it with the range of heights that satisfy the area range."""
        ratio = random.uniform(*self.aspect_ratio_range)
        least, greatest = (
            round(math.sqrt(part * height * width / ratio)) for part in self.area_range
        )
        return ratio, least, greatest


class DetRandomCropAug(_Random):
    """Random crop that contains enough of the objects.

    Parameters
    ----------
    min_object_covered : float
        Minimum (exclusive) covered fraction of every object that the crop intersects.
    aspect_ratio_range : tuple of float
        Range of the ratio of width to height.
    area_range : tuple of float
        Range of the crop's share of the image's area.
    min_eject_coverage : float
        Objects of which no larger fraction remains are dropped.
    max_attempts : int
        Number of attempts, after which the image is left unchanged.
    """

    def __init__(
        self,
        min_object_covered=0.1,
        aspect_ratio_range=(0.75, 1.33),
        area_range=(0.05, 1.0),
        min_eject_coverage=0.3,
        max_attempts=50,
    ):
        self.min_object_covered = min_object_covered
        self.min_eject_coverage = min_eject_coverage
        super().__init__(
            0,
            min_object_covered=min_object_covered,
            aspect_ratio_range=aspect_ratio_range,
            area_range=area_range,
            min_eject_coverage=min_eject_coverage,
            max_attempts=max_attempts,
        )

    def __call__(self, src, label):
        region = self._part(label, *src.shape[:2])
        if region is None:
            return src, label
        place, label = region
        return fixed_crop(src, *place, None), label

    def _part(self, label, height, width):
        """Find an acceptable crop (left, top, width, height); return it with its label."""
        if not self.enabled or min(height, width) <= 0:
            return None
        for _ in range(self.max_attempts):
            size = self._size(height, width)
            if size is None:
                continue
            w, h = size
            y, x = random.randint(0, max(0, height - h)), random.randint(0, max(0, width - w))
            if self._covers(label, x, y, w, h, height, width):
                inside = self._label_inside(label, x / width, y / height, w / width, h / height)
                if inside is not None:
                    return (x, y, w, h), inside
        return None

    def _size(self, height, width):
        """Draw a width and height; None if impossible."""
        ratio, h, greatest = self._heights(height, width)
        if round(greatest * ratio) > width:
            greatest = int((width + 0.4999999) / ratio)
        greatest = min(greatest, height)
        h = min(h, greatest)
        if h < greatest:
            h = random.randint(h, greatest)
        low, high = (part * height * width for part in self.area_range)
        w = round(h * ratio)
        if w * h < low:
            h += 1
            w = round(h * ratio)
        if w * h > high:
            h -= 1
            w = round(h * ratio)
        possible = low <= w * h <= high and 0 <= w <= width and 0 <= h <= height
        return (w, h) if possible else None

    def _covers(self, label, x, y, w, h, height, width):
        """Whether a crop covers enough of the objects."""
        if w * h < _LEAST_PIXELS:
            return False
        areas = _areas(label[:, 1:])
        real = np.flatnonzero(areas * width * height > _LEAST_PIXELS)
        if not real.size:
            return False
        low, high = np.array([x / width, y / height]), np.array([(x + w) / width, (y + h) / height])
        boxes = label[real, 1:5]
        inside = np.hstack([np.maximum(boxes[:, :2], low), np.minimum(boxes[:, 2:], high)])
        shares = _areas(inside) / areas[real]
        shares = shares[shares > 0]
        return shares.size > 0 and shares.min() > self.min_object_covered

    def _label_inside(self, label, x, y, w, h):
        """The label of a crop; None if no object remains."""
        inside = label.copy()
        inside[:, (1, 3)] = (inside[:, (1, 3)] - x) / w
        inside[:, (2, 4)] = (inside[:, (2, 4)] - y) / h
        inside[:, 1:5] = np.clip(inside[:, 1:5], 0, 1)
        shares = _areas(inside[:, 1:]) * w * h / _areas(label[:, 1:])
        kept = (inside[:, 3] > inside[:, 1]) & (inside[:, 4] > inside[:, 2])
        kept &= shares > self.min_eject_coverage
        return inside[kept] if kept.any() else None


class DetRandomPadAug(_Random):
    """Random padding with a constant: place the image in a larger one.

    Parameters
    ----------
    aspect_ratio_range : tuple of float
        Range of the ratio of width to height.
    area_range : tuple of float
        Range of the padded area, as a multiple of the image's.
    max_attempts : int
        Number of attempts, after which the image is left unchanged.
    pad_val : float or tuple of float
        Padding value, or one per channel.
    """

    def __init__(
        self,
        aspect_ratio_range=(0.75, 1.33),
        area_range=(1.0, 3.0),
        max_attempts=50,
        pad_val=(128, 128, 128),
    ):
        super().__init__(
            1,
            aspect_ratio_range=aspect_ratio_range,
            area_range=area_range,
            max_attempts=max_attempts,
            pad_val=pad_val,
        )
        self.pad_val = (pad_val,) if isinstance(pad_val, numeric_types) else tuple(pad_val)

    def __call__(self, src, label):
        height, width = src.shape[:2]
        region = self._place(height, width)
        if region is None:
            return src, label
        x, y, w, h = region
        margins = (y, h - y - height, x, w - x - width)
        label = label.copy()
        label[:, (1, 3)] = (label[:, (1, 3)] * width + x) / w
        label[:, (2, 4)] = (label[:, (2, 4)] * height + y) / h
        return copyMakeBorder(src, *margins, _CONSTANT_ISOLATED, values=self.pad_val), label

    def _place(self, height, width):
        """Draw the position of the image and the padded size."""
        if not self.enabled or min(height, width) <= 0:
            return None
        for _ in range(self.max_attempts):
            ratio, h, greatest = self._heights(height, width)
            if round(h * ratio) < width:
                h = int((width + 0.499999) / ratio)
            h = min(max(h, height), greatest)
            if h < greatest:
                h = random.randint(h, greatest)
            w = round(h * ratio)
            if min(h - height, w - width) < 2:
                continue
            y, x = random.randint(0, max(0, h - height)), random.randint(0, max(0, w - width))
            return x, y, w, h
        return None
