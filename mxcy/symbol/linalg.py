"""`mx.sym.linalg`: the operators of that family, over symbols."""

from mxcy.symbol import namespaces

__getattr__, __dir__ = namespaces.offer(__name__, "linalg")
