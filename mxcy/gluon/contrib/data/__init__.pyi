"""Samplers, text data sets, and image loaders with augmentation."""

# Written by `python -m tools.stubs --write`.

from mxcy.gluon.contrib.data import (
    sampler as sampler, text as text, vision as vision,
)
from mxcy.gluon.data.sampler import (
    IntervalSampler as IntervalSampler,
)
