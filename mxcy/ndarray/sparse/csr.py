"""Matrices in compressed sparse row format."""

import numpy as np

from mxcy._base import dtypes
from mxcy._library import front
from mxcy.ndarray._functions import creation
from mxcy.ndarray.classes import offer_sparse
from mxcy.ndarray.register import F
from mxcy.ndarray.sparse.base import BaseSparseNDArray
from mxcy.ndarray.sparse.scipy_arrays import scipy_sparse
from mxcy.ops.core.stypes import Csr
from mxcy.ops.sparse.parts import csr_problem

__all__ = ["CSRNDArray"]

_INT64 = dtypes.CODES["int64"]


@offer_sparse
class CSRNDArray(BaseSparseNDArray):
    """A matrix in compressed sparse row format.

    Row i has the elements ``data[indptr[i]:indptr[i + 1]]`` in the columns
    ``indices[indptr[i]:indptr[i + 1]]``, in ascending order; all others are zero. Create them with
    `mx.nd.sparse.csr_matrix`, `zeros`, `array`, or ``dense.tostype('csr')``.
    """

    __slots__ = ()
    _stype = "csr"
    _key_error = Exception  # of assignments to elements, as in MXNet

    @property
    def indptr(self):
        """NDArray: a copy of the row pointers, int64."""
        return self._parts.indptr.copy()

    @indptr.setter
    def indptr(self, indptr):
        raise NotImplementedError

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def _get_index(self, key):
        if isinstance(key, (int, np.integer)):
            row, rows = int(key), self.shape[0]
            if not -rows <= row < rows:
                raise IndexError(f"row {row} is out of bounds for {rows} rows")
            row += rows if row < 0 else 0
            return F.slice(self, begin=(row,), end=(row + 1,))
        if isinstance(key, tuple):
            raise ValueError("Multi-dimension indexing is not supported")
        if not isinstance(key, slice):
            raise ValueError(f"Undefined behaviour for {key}")
        if key.step not in (None, 1):
            raise ValueError("CSRNDArray only supports continuous slicing on axis 0")
        if key.start is None and key.stop is None:
            return self
        start, stop, _ = key.indices(self.shape[0])
        return F.slice(self, begin=(start,), end=(max(start, stop),))

    def _fill(self, number):
        raise ValueError("Assigning numeric types to CSRNDArray is not implemented yet.")

    def _problem(self, full):
        parts = self._parts
        nnz = parts.data.shape[0]
        return csr_problem(parts.indices.asnumpy(), parts.indptr.asnumpy(), nnz, self.shape, full)

    @classmethod
    def _of_scipy(cls, source, ctx, dtype):
        """Convert SciPy's array, sorting its entries and summing duplicates."""
        source = source.tocsr(copy=True)
        source.sum_duplicates()
        source.sort_indices()
        data = creation.array(source.data, ctx, dtype or source.data.dtype)
        places = (np.array(part, np.int64) for part in (source.indices, source.indptr))
        indices, indptr = (front.from_numpy(part, _INT64, data.context) for part in places)
        return cls._of_parts(Csr(data, indices, indptr, tuple(source.shape)))

    def asscipy(self):
        """Convert the array to a `scipy.sparse.csr_matrix`.

        Raises
        ------
        ImportError
            If SciPy is not installed.
        """
        parts = tuple(getattr(self._parts, n).asnumpy() for n in ("data", "indices", "indptr"))
        return scipy_sparse("asscipy").csr_matrix(parts, shape=self.shape, dtype=self.dtype)
