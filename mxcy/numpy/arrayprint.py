"""Printing of `mx.np` arrays and scalars."""

import numpy as onp

from mxcy._base.listing import listing
from mxcy.numpy._calls.operands import as_np_array
from mxcy.numpy._types.types import set_printoptions

__all__ = [
    "array2string",
    "array_repr",
    "array_str",
    "base_repr",
    "binary_repr",
    "format_float_positional",
    "format_float_scientific",
    "get_printoptions",
    "printoptions",
    "set_printoptions",
]

__dir__ = listing(__name__)

base_repr, binary_repr = onp.base_repr, onp.binary_repr
format_float_positional = onp.format_float_positional
format_float_scientific = onp.format_float_scientific
get_printoptions, printoptions = onp.get_printoptions, onp.printoptions


def array2string(a, *args, **kwargs):
    """Return a string representation of an array; see `numpy.array2string` for the arguments."""
    return onp.array2string(as_np_array(a).asnumpy(), *args, **kwargs)


def array_repr(arr):
    """Return the `repr` of an array."""
    return repr(as_np_array(arr))


def array_str(a):
    """Return the `str` of an array."""
    return str(as_np_array(a))
