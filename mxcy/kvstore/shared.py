"""Record of a key in a distributed store."""

from mxcy import ndarray as nd
from mxcy._base.dtypes import NAMES, code_of
from mxcy._library import front
from mxcy.context import cpu

__all__ = ["SharedKey", "name_of"]


class SharedKey:
    """A key shared by all workers."""

    def __init__(self, sum_dtype, same_dtype, exchange=None):
        self.exchange = exchange  # sums it
        self.sum_dtype = sum_dtype  # the dtype of sums
        self.same_dtype = same_dtype  # whether the value has this dtype, so that no cast is needed
        self.var = front.Var()  # orders this worker's pushes and pulls
        self.slot = None
        self.by_rows = False  # whether gradients, and hence sums for the updater, are row_sparse
        self.used_ungrouped = False  # whether it was used by itself before it had a bucket
        self.buffer = None  # copy of sums computed in place in the program's arrays
        self.latest = None  # sum that is not stored yet

    def memory(self, array):
        """Return the buffer for a copy of an array."""
        if self.buffer is None:
            self.buffer = nd.empty(array.shape, cpu(), array.dtype)
        return self.buffer


def name_of(dtype):
    """The name of a dtype."""
    return NAMES[code_of(dtype)]
