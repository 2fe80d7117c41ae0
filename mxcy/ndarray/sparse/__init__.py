"""`mx.nd.sparse`: sparse arrays, their constructors, and operators with sparse rules."""

from mxcy.ndarray import namespaces
from mxcy.ndarray.sparse.arithmetic import add, divide, multiply, subtract  # noqa: F401
from mxcy.ndarray.sparse.base import BaseSparseNDArray  # noqa: F401
from mxcy.ndarray.sparse.creation import (  # noqa: F401
    _ndarray_cls,
    array,
    csr_matrix,
    empty,
    row_sparse_array,
    zeros,
)
from mxcy.ndarray.sparse.csr import CSRNDArray  # noqa: F401
from mxcy.ndarray.sparse.row_sparse import RowSparseNDArray  # noqa: F401

__getattr__, __dir__ = namespaces.offer(__name__, "sparse")
