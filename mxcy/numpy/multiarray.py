"""`mx.np.multiarray`: all of `mx.np`, under MXNet's module name."""

from importlib import import_module

from mxcy._semantics.parameters import wrap_np_binary_func, wrap_np_unary_func  # noqa: F401
from mxcy.numpy.fallback import _NoValue  # noqa: F401  MXNet's name


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("mxcy.numpy"), name)  # imports this package


def __dir__():
    return dir(import_module("mxcy.numpy"))
