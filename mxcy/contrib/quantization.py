"""Quantization under MXNet's name: `mxcy.quantization` has it.

It is imported when first asked for, since Gluon, on which it builds, itself imports from here.
"""

from importlib import import_module

from mxcy._base.listing import own_names

_HOME = "mxcy.quantization"


def __getattr__(name):
    return getattr(import_module(_HOME), name)


def __dir__():
    return sorted({*own_names(__name__), *import_module(_HOME).__all__})
