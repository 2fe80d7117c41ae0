"""`mx.nd.np`: what `mx.np` offers, under the name it has beside `mx.nd`."""

from importlib import import_module

from mxcy.ndarray.numpy import _internal  # noqa: F401


def __getattr__(name):
    return getattr(import_module("mxcy.numpy"), name)  # which is made of this package


def __dir__():
    return dir(import_module("mxcy.numpy"))
