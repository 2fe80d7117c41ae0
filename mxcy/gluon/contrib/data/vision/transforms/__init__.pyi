"""Transforms of images together with boxes in them."""

# Written by `python -m tools.stubs --write`.

from mxcy.gluon.contrib.data.vision.transforms import (
    bbox as bbox,
)
