"""`mx.nd.npx.image`: what `mx.npx.image` offers."""

from importlib import import_module


def __getattr__(name):
    return getattr(
        import_module("mxcy.numpy_extension.image"), name
    )  # which is made of this package


def __dir__():
    return dir(import_module("mxcy.numpy_extension.image"))
