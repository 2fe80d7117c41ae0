"""`mx.sym.npx`: the functions of `mx.npx` for symbols."""

from mxcy.symbol.numpy import register
from mxcy.symbol.numpy_extension import image, random  # noqa: F401

__getattr__, __dir__ = register.offer(__name__, "npx", "mxcy.numpy_extension")
