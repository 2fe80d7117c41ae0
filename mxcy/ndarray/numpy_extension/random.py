"""`mx.nd.npx.random`: alias of `mx.npx.random`."""

from importlib import import_module


def __getattr__(name):
    return getattr(
        import_module("mxcy.numpy_extension.random"), name
    )  # lazily: it imports this package


def __dir__():
    return dir(import_module("mxcy.numpy_extension.random"))
