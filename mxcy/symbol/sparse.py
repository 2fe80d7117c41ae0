"""`mx.sym.sparse`: the operators of that family, over symbols."""

from mxcy.symbol import namespaces

__getattr__, __dir__ = namespaces.offer(__name__, "sparse")
