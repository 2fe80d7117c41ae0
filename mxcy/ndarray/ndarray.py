"""`mx.nd.NDArray`."""

import numpy as np

from mxcy import _front, dtypes
from mxcy.context import current_context
from mxcy.ndarray import state

__all__ = ["NDArray"]


class NDArray(_front.NDArrayBase):
    """A multi-dimensional array on a device."""

    __slots__ = ()

    def __reduce__(self):
        return state.reduce_array(self)

    def __setstate__(self, content):
        state.restore_array(self, content)

    def asnumpy(self):
        """A NumPy array with a copy of the elements."""
        return np.array(self.numpy_view())


def array(source, ctx=None, dtype=None):
    """An array with the elements of anything array-like."""
    source = np.ascontiguousarray(source, dtype or np.float32)
    return _front.from_numpy(source, dtypes.code_of(source.dtype), ctx or current_context())


_front.set_array_class(NDArray, current_context())
