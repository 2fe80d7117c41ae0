"""Layers under their MXNet 1.x names."""

from mxcy._base.listing import listing
from mxcy.gluon.contrib.nn import basic_layers
from mxcy.gluon.contrib.nn.basic_layers import *  # noqa: F403
from mxcy.gluon.contrib.nn.basic_layers import __all__ as _basic_layers

__all__ = ["basic_layers", *_basic_layers]

__dir__ = listing(__name__)
