"""Joint transforms of images and bounding boxes."""

# Written by `python -m tools.stubs --write`.

from mxcy.gluon.contrib.data.vision.transforms import (
    bbox as bbox,
)
