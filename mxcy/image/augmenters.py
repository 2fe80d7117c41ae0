"""Augmenters: objects that change an image, most of them at random.

They draw from Python's `random`, as MXNet's do, so a program that seeds it gets the same images.
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
    """A parameter as JSON can write it."""
    if isinstance(value, nd.NDArray):
        value = value.asnumpy()
    return value.tolist() if isinstance(value, np.ndarray) else value


class Augmenter:
    """Base of augmenters.

    Parameters
    ----------
    **kwargs
        The parameters, for `dumps`.
    """

    def __init__(self, **kwargs):
        self._kwargs = {name: _plain(value) for name, value in kwargs.items()}

    def dumps(self):
        """Describe the augmenter.

        Returns
        -------
        str
            A list of its name and a dict of its parameters, as JSON.
        """
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, src):
        """Return the changed image."""
        raise NotImplementedError(f"{type(self).__name__} does not define __call__")


class SequentialAug(Augmenter):
    """Augmenters, one after the other.

    Parameters
    ----------
    ts : list of Augmenter
    """

    def __init__(self, ts):
        super().__init__()
        self.ts = ts

    def dumps(self):
        """Describe the augmenters: a list of this one's name and their descriptions."""
        return [type(self).__name__.lower(), [augmenter.dumps() for augmenter in self.ts]]

    def __call__(self, src):
        for augmenter in self.ts:
            src = augmenter(src)
        return src


class RandomOrderAug(SequentialAug):
    """Augmenters, in random order.

    Parameters
    ----------
    ts : list of Augmenter
    """

    def __call__(self, src):
        random.shuffle(self.ts)
        return super().__call__(src)


class ResizeAug(Augmenter):
    """`resize_short`.

    Parameters
    ----------
    size : int
        The shorter side.
    interp : int
    """

    def __init__(self, size, interp=2):
        super().__init__(size=size, interp=interp)
        self.size, self.interp = size, interp

    def __call__(self, src):
        return resize_short(src, self.size, self.interp)


class ForceResizeAug(Augmenter):
    """A size, whatever the proportions were.

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
    """`random_crop`.

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
    """`random_size_crop`.

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
    """`center_crop`.

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
    """Left and right swapped, with a probability.

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
    """Another element type.

    Parameters
    ----------
    typ : str
    """

    def __init__(self, typ="float32"):
        super().__init__(type=typ)
        self.typ = typ

    def __call__(self, src):
        return src.astype(self.typ)
