"""Augmenters: callable objects that transform an image, mostly at random.

They draw from Python's `random`, like MXNet's, so seeding it reproduces the images.
"""

import json
import random

import numpy as np

from mxcy import ndarray as nd
from mxcy.image.crops import center_crop, interpolation, random_crop, random_size_crop, resize_short
from mxcy.image.reading import imresize

__all__ = [
    "Augmenter",
    "CastAug",
    "CenterCropAug",
    "ForceResizeAug",
    "HorizontalFlipAug",
    "RandomCropAug",
    "RandomOrderAug",
    "RandomSizedCropAug",
    "ResizeAug",
    "SequentialAug",
]


def _plain(value):
    """Convert a parameter to a JSON-compatible value."""
    if isinstance(value, nd.NDArray):
        value = value.asnumpy()
    return value.tolist() if isinstance(value, np.ndarray) else value


class Augmenter:
    """Base class of augmenters.

    Parameters
    ----------
    **kwargs
        Parameters, for `dumps`.
    """

    def __init__(self, **kwargs):
        self._kwargs = {name: _plain(value) for name, value in kwargs.items()}

    def dumps(self):
        """Describe the augmenter.

        Returns
        -------
        str
            JSON list of its name and a dict of its parameters.
        """
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, src):
        """Return the augmented image."""
        raise NotImplementedError(f"{type(self).__name__} does not define __call__")


class SequentialAug(Augmenter):
    """Apply augmenters in order.

    Parameters
    ----------
    ts : list of Augmenter
    """

    def __init__(self, ts):
        super().__init__()
        self.ts = ts

    def dumps(self):
        """Describe the augmenters: a list of this augmenter's name and their descriptions."""
        return [type(self).__name__.lower(), [augmenter.dumps() for augmenter in self.ts]]

    def __call__(self, src):
        for augmenter in self.ts:
            src = augmenter(src)
        return src


class RandomOrderAug(SequentialAug):
    """Apply augmenters in random order.

    Parameters
    ----------
    ts : list of Augmenter
    """

    def __call__(self, src):
        random.shuffle(self.ts)
        return super().__call__(src)


class ResizeAug(Augmenter):
    """Augmenter for `resize_short`.

    Parameters
    ----------
    size : int
        Length of the shorter side.
    interp : int
    """

    def __init__(self, size, interp=2):
        super().__init__(size=size, interp=interp)
        self.size, self.interp = size, interp

    def __call__(self, src):
        return resize_short(src, self.size, self.interp)


class ForceResizeAug(Augmenter):
    """Resize to a size, ignoring the aspect ratio.

    Parameters
    ----------
    size : tuple of int
        Width and height.
    interp : int
    """

    def __init__(self, size, interp=2):
        super().__init__(size=size, interp=interp)
        self.size, self.interp = size, interp

    def __call__(self, src):
        sizes = (*src.shape[:2], self.size[1], self.size[0])
        return imresize(src, *self.size, interp=interpolation(self.interp, sizes))


class RandomCropAug(Augmenter):
    """Augmenter for `random_crop`.

    Parameters
    ----------
    size : tuple of int
        Width and height.
    interp : int
    """

    def __init__(self, size, interp=2):
        super().__init__(size=size, interp=interp)
        self.size, self.interp = size, interp

    def __call__(self, src):
        return random_crop(src, self.size, self.interp)[0]


class RandomSizedCropAug(Augmenter):
    """Augmenter for `random_size_crop`.

    Parameters
    ----------
    size : tuple of int
        Width and height.
    area : float or tuple of float
    ratio : tuple of float
    interp : int
    """

    def __init__(self, size, area, ratio, interp=2, **kwargs):
        super().__init__(size=size, area=area, ratio=ratio, interp=interp)
        self.size, self.interp, self.ratio = size, interp, ratio
        self.area = kwargs.pop("min_area", area)
        assert not kwargs, f"unexpected keyword arguments for `RandomSizedCropAug`: {kwargs}"

    def __call__(self, src):
        return random_size_crop(src, self.size, self.area, self.ratio, self.interp)[0]


class CenterCropAug(Augmenter):
    """Augmenter for `center_crop`.

    Parameters
    ----------
    size : tuple of int
        Width and height.
    interp : int
    """

    def __init__(self, size, interp=2):
        super().__init__(size=size, interp=interp)
        self.size, self.interp = size, interp

    def __call__(self, src):
        return center_crop(src, self.size, self.interp)[0]


class HorizontalFlipAug(Augmenter):
    """Flip horizontally with a given probability.

    Parameters
    ----------
    p : float
        The probability.
    """

    def __init__(self, p):
        super().__init__(p=p)
        self.p = p

    def __call__(self, src):
        return nd.flip(src, axis=1) if random.random() < self.p else src


class CastAug(Augmenter):
    """Cast to another dtype.

    Parameters
    ----------
    typ : str
    """

    def __init__(self, typ="float32"):
        super().__init__(type=typ)
        self.typ = typ

    def __call__(self, src):
        return src.astype(self.typ)
