"""`mx.nd.np.random`: alias of `mx.np.random`."""

from importlib import import_module


def __getattr__(name):
    return getattr(import_module("mxcy.numpy.random"), name)  # lazily: it imports this package


def __dir__():
    return dir(import_module("mxcy.numpy.random"))
