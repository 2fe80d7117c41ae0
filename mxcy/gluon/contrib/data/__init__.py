"""Samplers and text data sets."""

from mxcy.gluon.contrib.data import sampler, text
from mxcy.gluon.contrib.data.sampler import IntervalSampler

__all__ = ["IntervalSampler", "sampler", "text"]
