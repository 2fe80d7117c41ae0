"""`mx.nd.npx.control_flow`: what `mx.npx.control_flow` offers."""

from importlib import import_module


def __getattr__(name):
    return getattr(
        import_module("mxcy.numpy_extension.control_flow"), name
    )  # which is made of this package


def __dir__():
    return dir(import_module("mxcy.numpy_extension.control_flow"))
