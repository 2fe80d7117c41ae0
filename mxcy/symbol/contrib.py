"""`mx.sym.contrib`: operators outside the core, over symbols."""

from mxcy.symbol import namespaces

__getattr__, __dir__ = namespaces.offer(__name__, "contrib")
