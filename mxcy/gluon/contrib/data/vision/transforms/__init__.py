"""Transforms of images together with boxes in them."""

from mxcy.gluon.contrib.data.vision.transforms import bbox

__all__ = ["bbox"]
