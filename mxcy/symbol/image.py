"""`mx.sym.image`: image operators for symbols."""

from mxcy.symbol import namespaces

__getattr__, __dir__ = namespaces.offer(__name__, "image")
