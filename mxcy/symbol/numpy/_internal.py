"""The operators of `mx.sym.np` under their registered names, without prefix."""

from mxcy.symbol.numpy import register

__getattr__, __dir__ = register.offer(__name__, "_internal", "mxcy.numpy._internal")
