"""`mx.sym.op`: all operators with public names."""

from mxcy.ops.core import homes
from mxcy.symbol import namespaces

__getattr__, __dir__ = namespaces.offer(__name__, homes.MAIN)
