"""Gradients that are sums of rows, which an operator may compute row by row."""

import functools

from mxcy._base import dtypes
from mxcy._library import front
from mxcy._library.rows import update_by_sums
from mxcy.context import cpu
from mxcy.kvstore.kernel_calls import kernel_of
from mxcy.ndarray.sparse.base import wrap
from mxcy.ops.core.stypes import RowSparse

__all__ = ["SummedRows", "array_over"]

_INT64 = dtypes.CODES["int64"]


class SummedRows:
    """Parts of a row_sparse array, see `RowSparse`; computed only if they are read.

    Parameters
    ----------
    total : RowSum
    dtype : str
        The dtype of the array.
    shape : tuple of int
    """

    stype = "row_sparse"
    _fields = RowSparse._fields

    def __init__(self, total, dtype, shape):
        self._total, self._dtype, self.shape = total, dtype, shape

    def array(self):
        """The row_sparse array with these parts."""
        return wrap(self, dtypes.code_of(self._dtype), cpu())

    @functools.cached_property
    def data(self):
        """NDArray: the rows."""
        return array_over(self._total.rows).astype(self._dtype, copy=False)

    @functools.cached_property
    def indices(self):
        """NDArray: their numbers."""
        return array_over(self._total.ids)

    @property
    def aux(self):
        """tuple of NDArray: the index arrays in the order of files."""
        return (self.indices,)

    def _replace(self, **parts):
        return RowSparse(self.data, self.indices, self.shape)._replace(**parts)

    def update(self, component, options, weight, states):
        """Update the rows of a weight, each as soon as its sum is computed.

        Parameters
        ----------
        component : str
            Operator of a weight, rows, their indices, and states, that changes only these rows.
        options : dict
            Its attributes.
        weight : NDArray
        states : list of NDArray

        Returns
        -------
        bool
            False, without an update, if the rows can be passed to the operator as well or better.
        """
        tables, terms = [weight, *states], self._total.terms
        apart = len(terms) > 1 or any(places is not None for _, _, places in terms)
        like_sums = all(table.dtype == self._total.dtype for table in tables)
        if (
            not apart
            or not like_sums
            or any(table.context.device_type != "cpu" for table in tables)
        ):
            return False
        first, *others = [(table.shape, weight.dtype_code) for table in tables]
        rows, ids = ((1, *weight.shape[1:]), weight.dtype_code), ((1,), _INT64)
        kernel, params = kernel_of(component, options, first, rows, ids, *others)
        if kernel is None:
            return False
        update_by_sums(kernel, params, [table.numpy_view() for table in tables], terms)
        return True


def array_over(memory):
    """An array over foreign memory."""
    code = dtypes.code_of(memory.dtype.name)
    return front.from_memory(memory.ctypes.data, memory, memory.shape, code, cpu())
