"""`mx.sym.linalg`: linear algebra for symbols."""

from mxcy.symbol import namespaces

__getattr__, __dir__ = namespaces.offer(__name__, "linalg")
