"""The interface of augmenters that change an image together with the boxes in it."""

from mxcy.image.augmenters import Augmenter

__all__ = ["DetAugmenter"]


class DetAugmenter(Augmenter):
    """Base of augmenters for detection.

    A label is an array of one row for each object: class, left, top, right and bottom as parts of
    the width and height, and whatever else is known.

    Parameters
    ----------
    **kwargs
        The parameters, for `dumps`.
    """

    def __call__(self, src, label):
        """Return the changed image and label."""
        raise NotImplementedError(f"{type(self).__name__} does not define __call__")
