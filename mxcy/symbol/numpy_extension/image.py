"""`mx.sym.npx.image`: image operators for symbols."""

from mxcy.symbol.numpy import register

__getattr__, __dir__ = register.offer(__name__, "npx.image", "mxcy.numpy_extension.image")
