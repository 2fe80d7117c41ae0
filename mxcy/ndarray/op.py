"""`mx.nd.op`: all operators with public names."""

from mxcy.ndarray import namespaces
from mxcy.ops.core import homes

__getattr__, __dir__ = namespaces.offer(__name__, homes.MAIN)
