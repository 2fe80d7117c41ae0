"""Base class of augmenters for detection, which transform an image and its boxes."""

from mxcy.image.augmenters import Augmenter

__all__ = ["DetAugmenter"]


class DetAugmenter(Augmenter):
    """Base class of augmenters for detection.

    A label is an array with one row per object: class, left, top, right and bottom as fractions of
    the width and height, and optional values.

    Parameters
    ----------
    **kwargs
        Parameters, for `dumps`.
    """

    def __call__(self, src, label):
        """Return the augmented image and label."""
        raise NotImplementedError(f"{type(self).__name__} does not define __call__")
