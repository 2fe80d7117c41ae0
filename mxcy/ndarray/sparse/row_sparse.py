"""Row-sparse arrays, which store only some of their rows."""

import numpy as np

from mxcy._base import dtypes
from mxcy._library import front
from mxcy.ndarray.classes import offer_sparse
from mxcy.ndarray.register import F
from mxcy.ndarray.sparse.base import BaseSparseNDArray, copied
from mxcy.ops.core.stypes import RowSparse
from mxcy.ops.sparse import compose
from mxcy.ops.sparse.parts import row_sparse_problem

__all__ = ["RowSparseNDArray"]

_INT64 = dtypes.CODES["int64"]


@offer_sparse
class RowSparseNDArray(BaseSparseNDArray):
    """An array that stores only some of its rows; all others are zero.

    ``data[i]`` is row ``indices[i]``, with ascending indices. Create them with
    `mx.nd.sparse.row_sparse_array`, `zeros`, `array`, or ``dense.tostype('row_sparse')``.
    """

    __slots__ = ()
    _stype = "row_sparse"
    _key_error = TypeError  # of assignments to elements, as in MXNet

    def __iter__(self):
        raise TypeError("a RowSparseNDArray cannot be iterated")

    def _take(self, rows, ids):
        """Replace all rows by those of arrays of the same dtype, which are shared if possible."""
        parts = RowSparse(rows, ids, self.shape)
        self._parts = parts if rows.context == self.context else copied(parts, self.context)

    def _get_index(self, key):
        if isinstance(key, (int, np.integer)):
            raise Exception("__getitem__ with int key is not implemented for RowSparseNDArray yet")
        if isinstance(key, slice) and key == slice(None):
            return self
        if isinstance(key, slice):
            raise Exception("RowSparseNDArray only supports [:] for __getitem__")
        raise ValueError(f"Undefined behaviour for {key}")

    def _fill(self, number):
        rows = self.shape[0]
        data = front.empty(self.shape, self.dtype_code, self.context)
        data[:] = number
        ids = front.from_numpy(np.arange(rows, dtype=np.int64), _INT64, self.context)
        self._parts = RowSparse(data, ids, self.shape)

    @classmethod
    def _with_all_rows(cls, dense):
        """Make an array that stores all rows of a dense one, including zero rows."""
        return cls._of_parts(compose.all_rows_of(F, dense.copy()))

    def _problem(self, full):
        parts = self._parts
        if parts.data.shape[1:] != self.shape[1:]:
            return f"shapes: rows of shape {parts.data.shape[1:]} in an array of {self.shape}"
        return row_sparse_problem(parts.indices.asnumpy(), parts.data.shape[0], self.shape, full)

    def retain(self, *args, **kwargs):
        """Keep only the rows with the given ids; see `mx.nd.sparse.retain`."""
        return F._sparse_retain(self, *args, **kwargs)
