"""`mx.nd.npx.random`: what `mx.npx.random` offers."""

from importlib import import_module


def __getattr__(name):
    return getattr(
        import_module("mxcy.numpy_extension.random"), name
    )  # which is made of this package


def __dir__():
    return dir(import_module("mxcy.numpy_extension.random"))
