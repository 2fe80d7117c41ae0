"""`mx.nd._internal`: the operators behind arithmetic, indexing and the like, and the array's base class."""

from mxcy._front import NDArrayBase  # noqa: F401
from mxcy.ndarray import namespaces
from mxcy.ops import homes

__getattr__, __dir__ = namespaces.offer(__name__, homes.INTERNAL)
