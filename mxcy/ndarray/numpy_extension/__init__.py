"""`mx.nd.npx`: what `mx.npx` offers, under the name it has beside `mx.nd`."""

from importlib import import_module


def __getattr__(name):
    return getattr(import_module("mxcy.numpy_extension"), name)  # which is made of this package


def __dir__():
    return dir(import_module("mxcy.numpy_extension"))
