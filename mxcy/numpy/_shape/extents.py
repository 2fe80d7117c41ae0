"""Shape and size queries, and the minimal dtype of a scalar."""

import math

import numpy as onp

from mxcy.numpy._calls.operands import is_array

__all__ = ["min_scalar_type", "ndim", "shape", "size"]


def shape(a):
    """Return the shape of an array-like object.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    tuple of int
    """
    return a.shape if is_array(a) else onp.shape(a)


def ndim(a):
    """Return the number of axes of an array-like object.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    int
    """
    return len(shape(a))


def size(a, axis=None):
    """Return the number of elements, in all or along axes.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional

    Returns
    -------
    int
    """
    extents = shape(a)
    if axis is None:
        return math.prod(extents)
    return math.prod(extents[i] for i in (axis if isinstance(axis, tuple) else (axis,)))


def min_scalar_type(a):
    """Return the smallest dtype that can hold a scalar, or an array's dtype.

    Parameters
    ----------
    a : scalar or array_like

    Returns
    -------
    numpy.dtype
    """
    if is_array(a):
        return a.dtype if a.ndim else onp.min_scalar_type(a.asnumpy())
    return onp.min_scalar_type(a)
