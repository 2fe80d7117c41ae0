"""`mx.sym.npx.random`: random arrays with what NumPy lacks, over symbols."""

from mxcy.symbol.numpy import register

__getattr__, __dir__ = register.offer(__name__, "npx.random", "mxcy.numpy_extension.random")
