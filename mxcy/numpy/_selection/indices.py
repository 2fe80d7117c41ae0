"""Helpers for indices, axes and broadcasting."""

import numpy as onp

from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import is_array
from mxcy.ops.core.infer import normal_axis

__all__ = ["axis_of", "host_indices", "spread"]


def host_indices(value):
    """Convert indices to NumPy, leaving other values unchanged; fractions are truncated."""
    values = value.asnumpy() if is_array(value) else onp.asarray(value)
    if values.dtype.kind == "f" or not values.size and values.dtype.kind != "b":
        values = values.astype(onp.int64)
    return values


def axis_of(name, array, axis):
    """Return an axis as non-negative; the error names the argument."""
    return normal_axis(axis, array.ndim, name)


def spread(array, shape):
    """Broadcast an array to a shape."""
    return array if array.shape == shape else operate("_npi_broadcast_to", array, shape=shape)
