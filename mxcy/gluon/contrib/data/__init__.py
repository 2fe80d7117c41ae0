"""Samplers, text data sets, and image loaders with augmentation."""

from mxcy._base.listing import listing
from mxcy.gluon.contrib.data import sampler, text, vision
from mxcy.gluon.contrib.data.sampler import IntervalSampler

__all__ = ["IntervalSampler", "sampler", "text", "vision"]

__dir__ = listing(__name__)
