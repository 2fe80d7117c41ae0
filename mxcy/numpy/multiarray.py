"""`mx.np.multiarray`: all of `mx.np` under the name of the module where MXNet has it."""

from importlib import import_module

from mxcy._semantics.parameters import wrap_np_binary_func, wrap_np_unary_func  # noqa: F401
from mxcy.numpy.fallback import _NoValue  # noqa: F401  a name of MXNet's


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("mxcy.numpy"), name)  # which is made of this package


def __dir__():
    return dir(import_module("mxcy.numpy"))
