"""Joint transforms of images and bounding boxes."""

from mxcy.gluon.contrib.data.vision.transforms import bbox

__all__ = ["bbox"]
