"""`mx.nd.npx`: alias of `mx.npx`."""

from importlib import import_module


def __getattr__(name):
    return getattr(import_module("mxcy.numpy_extension"), name)  # lazily: it imports this package


def __dir__():
    return dir(import_module("mxcy.numpy_extension"))
