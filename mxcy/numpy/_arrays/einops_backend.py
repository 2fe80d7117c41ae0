"""einops support for `mx.np` arrays: a subclass of einops' `AbstractBackend`.

The subclass is defined when einops is imported, whether before or after mxcy.
"""

from mxcy._library.imports import when_imported
from mxcy.numpy._arrays.ndarray import ndarray
from mxcy.numpy._arrays.operators import function

__all__ = ["introduce"]

_made = []  # einops holds subclasses weakly


def _make_backend(module):
    """Define the backend; einops discovers it through its subclasses."""

    class MxcyBackend(module.AbstractBackend):
        framework_name = "mxcy.numpy"

        def is_appropriate_type(self, tensor):
            return isinstance(tensor, ndarray)

        def from_numpy(self, x):
            return function("array")(x, dtype=x.dtype)

        def to_numpy(self, x):
            return x.asnumpy()

        def arange(self, start, stop):
            return function("arange")(start, stop, dtype="int64")

        def stack_on_zeroth_dimension(self, tensors):
            return function("stack")(tensors)

        def add_axis(self, x, new_position):
            return function("expand_dims")(x, new_position)

        def tile(self, x, repeats):
            return function("tile")(x, repeats)

        def concat(self, tensors, axis):
            return function("concatenate")(tensors, axis=axis)

        def is_float_type(self, x):
            return x.dtype.kind not in "biu"

        def einsum(self, pattern, *x):
            return function("einsum")(pattern, *x)

    _made.append(MxcyBackend)


def introduce():
    """Register the backend with einops, now or when it is imported."""
    when_imported("einops._backends", _make_backend)
