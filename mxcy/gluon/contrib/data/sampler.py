"""Alias of `mxcy.gluon.data.IntervalSampler`."""

from mxcy.gluon.data.sampler import IntervalSampler

__all__ = ["IntervalSampler"]
