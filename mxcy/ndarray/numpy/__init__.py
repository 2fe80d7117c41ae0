"""`mx.nd.np`: alias of `mx.np`."""

from importlib import import_module

from mxcy.ndarray.numpy import _internal  # noqa: F401


def __getattr__(name):
    return getattr(import_module("mxcy.numpy"), name)  # lazily: it imports this package


def __dir__():
    return dir(import_module("mxcy.numpy"))
