"""`mx.sym._internal`: the base class of symbols, and the operators behind arithmetic."""

from mxcy.ops.core import homes
from mxcy.symbol import namespaces
from mxcy.symbol.symbol import Symbol as SymbolBase  # noqa: F401

__getattr__, __dir__ = namespaces.offer(__name__, homes.INTERNAL)
