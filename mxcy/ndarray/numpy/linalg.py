"""`mx.nd.np.linalg`: alias of `mx.np.linalg`."""

from importlib import import_module


def __getattr__(name):
    return getattr(import_module("mxcy.numpy.linalg"), name)  # lazily: it imports this package


def __dir__():
    return dir(import_module("mxcy.numpy.linalg"))
