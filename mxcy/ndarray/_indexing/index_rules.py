"""Helper functions of MXNet about index keys, for programs that call them."""

import numpy as np

from mxcy._library import front
from mxcy.base import integer_types
from mxcy.ndarray._indexing import keys

__all__ = [
    "check_boolean_array_dimension",
    "get_indexing_dispatch_code",
    "get_oshape_of_gather_nd_op",
    "indexing_key_expand_implicit_axes",
]

_BASIC, _ADVANCED, _EMPTY_TUPLE = 0, 1, 2


def check_boolean_array_dimension(array_shape, axis, bool_shape):
    """Check that a mask matches the axes of an array from `axis` on.

    Parameters
    ----------
    array_shape : tuple of int
    axis : int
    bool_shape : tuple of int
        The mask's shape.

    Raises
    ------
    IndexError
        Naming the first axis that differs.
    """
    keys.check_mask(array_shape, axis, bool_shape)


def indexing_key_expand_implicit_axes(key, shape):
    """Expand a key to one entry per axis of an array; ellipses become slices.

    Parameters
    ----------
    key : object
        An index key.
    shape : tuple of int
        The array's shape.

    Returns
    -------
    tuple

    Raises
    ------
    IndexError
        If the key has several ellipses or more indices than axes.
    """
    return keys.expand_key(key, shape)


def get_indexing_dispatch_code(key):
    """Classify a key.

    Parameters
    ----------
    key : tuple

    Returns
    -------
    int
        0: integers and slices, 1: arrays or sequences, 2: an empty tuple.

    Raises
    ------
    ValueError
        If an entry is none of these.
    """
    assert isinstance(key, tuple), f"expected a tuple, got {type(key)}"
    for entry in key:
        if isinstance(entry, tuple) and not entry:
            return _EMPTY_TUPLE
        if isinstance(entry, (front.NDArrayBase, np.ndarray, list, tuple, range)):
            return _ADVANCED
        if entry is not None and not isinstance(entry, (slice, *integer_types)):
            raise ValueError(
                f"NDArray does not support slicing with key {entry} of type {type(entry)}."
            )
    return _BASIC


def get_oshape_of_gather_nd_op(dshape, ishape):
    """The output shape of `gather_nd`, given the shapes of data and indices.

    Parameters
    ----------
    dshape, ishape : tuple of int

    Returns
    -------
    tuple of int
    """
    assert dshape and ishape, "data and indices must have at least one dimension"
    return (*ishape[1:], *dshape[ishape[0] :])
