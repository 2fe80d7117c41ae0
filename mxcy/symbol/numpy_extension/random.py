"""`mx.sym.npx.random`: random arrays beyond NumPy's functions, for symbols."""

from mxcy.symbol.numpy import register

__getattr__, __dir__ = register.offer(__name__, "npx.random", "mxcy.numpy_extension.random")
