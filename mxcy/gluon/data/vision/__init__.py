"""Data sets of images, and transforms."""

from mxcy._base.listing import listing
from mxcy._base.suggestions import module_getattr
from mxcy.gluon.data.vision import datasets, transforms
from mxcy.gluon.data.vision.datasets import *  # noqa: F403
from mxcy.gluon.data.vision.datasets import __all__ as _datasets

__all__ = [*_datasets, "datasets", "transforms"]

__getattr__ = module_getattr(__name__)
__dir__ = listing(__name__)
