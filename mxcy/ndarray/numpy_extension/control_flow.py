"""`mx.nd.npx.control_flow`: alias of `mx.npx.control_flow`."""

from importlib import import_module


def __getattr__(name):
    return getattr(
        import_module("mxcy.numpy_extension.control_flow"), name
    )  # lazily: it imports this package


def __dir__():
    return dir(import_module("mxcy.numpy_extension.control_flow"))
