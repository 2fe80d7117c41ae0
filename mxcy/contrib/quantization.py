"""Alias of `mxcy.quantization` under MXNet's name.

Imported on first access: quantization depends on Gluon, which imports this package.
"""

from importlib import import_module

from mxcy._base.listing import own_names

_HOME = "mxcy.quantization"


def __getattr__(name):
    return getattr(import_module(_HOME), name)


def __dir__():
    return sorted({*own_names(__name__), *import_module(_HOME).__all__})
