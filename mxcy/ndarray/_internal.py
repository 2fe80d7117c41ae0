"""`mx.nd._internal`: the base class of arrays, and the operators behind arithmetic and indexing."""

from mxcy._library.front import NDArrayBase  # noqa: F401
from mxcy.ndarray import namespaces
from mxcy.ndarray._functions.filling import _copyto, _set_value  # noqa: F401
from mxcy.ndarray._functions.pixels import _cvcopyMakeBorder, _cvimdecode, _cvimread, _cvimresize  # noqa: F401
from mxcy.ops.core import homes

__getattr__, __dir__ = namespaces.offer(__name__, homes.INTERNAL)
