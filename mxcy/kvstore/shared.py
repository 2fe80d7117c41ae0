"""What a store over several processes knows of a key."""

from mxcy import ndarray as nd
from mxcy._base.dtypes import NAMES, code_of
from mxcy._library import front
from mxcy.context import cpu

__all__ = ["Shared", "name_of"]


class Shared:
    """A key that all workers have."""

    def __init__(self, travels, plain, exchange=None):
        self.exchange = exchange  # by which it is added up
        self.travels = travels  # the dtype of sums
        self.plain = plain  # whether the value has it as well, and goes as it is
        self.var = front.Var()  # orders this worker's pushes and pulls
        self.slot = None
        self.by_rows = False  # whether gradients are row_sparse: the updater gets such sums
        self.early = False  # whether it has been used alone before it had a bucket
        self.groups = None  # what a call of it alone does, if it has its bucket for itself
        self.kept = None  # memory for sums that are made in the program's arrays
        self.latest = None  # a sum that is not among the store's values yet

    def memory(self, array):
        """What takes a copy of an array, which becomes the value."""
        if self.kept is None:
            self.kept = nd.empty(array.shape, cpu(), array.dtype)
        return self.kept


def name_of(dtype):
    """The name of an element type."""
    return NAMES[code_of(dtype)]
