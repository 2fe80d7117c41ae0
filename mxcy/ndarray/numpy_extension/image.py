"""`mx.nd.npx.image`: alias of `mx.npx.image`."""

from importlib import import_module


def __getattr__(name):
    return getattr(
        import_module("mxcy.numpy_extension.image"), name
    )  # lazily: it imports this package


def __dir__():
    return dir(import_module("mxcy.numpy_extension.image"))
