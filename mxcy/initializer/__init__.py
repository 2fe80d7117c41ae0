"""Initializers of parameters.

An initializer is called with a description of the parameter (`InitDesc`: name and attributes) and
the array to fill. Random ones draw from `mxcy.random`, so its seed determines all weights.
"""

from mxcy._base.listing import listing
from mxcy._base.suggestions import module_getattr
from mxcy.initializer.base import InitDesc, Initializer, alias, create, register
from mxcy.initializer.choosing import Load, Mixed
from mxcy.initializer.constant import Constant, One, Zero
from mxcy.initializer.random import MSRAPrelu, Normal, Orthogonal, Uniform, Xavier
from mxcy.initializer.special import Bilinear, FusedRNN, LSTMBias, RNNFused

__all__ = [
    "Bilinear",
    "Constant",
    "FusedRNN",
    "InitDesc",
    "Initializer",
    "LSTMBias",
    "Load",
    "MSRAPrelu",
    "Mixed",
    "Normal",
    "One",
    "Orthogonal",
    "RNNFused",
    "Uniform",
    "Xavier",
    "Zero",
    "alias",
    "create",
    "register",
]

__getattr__ = module_getattr(__name__)
__dir__ = listing(__name__)
