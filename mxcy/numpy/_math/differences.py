"""Differences and interpolation."""

import operator

from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import as_array
from mxcy.numpy._shape.manipulation import concatenate

__all__ = ["diff", "ediff1d", "interp"]


def diff(a, n=1, axis=-1, prepend=None, append=None):
    """Differences of neighbours.

    Parameters
    ----------
    a : array_like
    n : int
        How many times.
    axis : int
    prepend, append : array_like, optional
        What stands before and behind the elements first; a number stands for a whole slice.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        When `n` is negative.
    """
    a = as_array(a)
    if n < 0:
        raise ValueError(f"diff: expected no negative n, got {n}")
    if n and (prepend is not None or append is not None):
        shape = list(a.shape)
        shape[axis] = 1
        parts = [_slice_of(x, shape) for x in (prepend, append)]
        parts.insert(1, a)
        a = concatenate([x for x in parts if x is not None], axis)
    return operate("_npi_diff", a, n=operator.index(n), axis=operator.index(axis))


def _slice_of(value, shape):
    """What is put beside an array, a number as a slice of that shape."""
    if value is None:
        return None
    value = as_array(value)
    return value if value.ndim else operate("_npi_broadcast_to", value, shape=tuple(shape))


def ediff1d(ary, to_end=None, to_begin=None):
    """Differences of neighbours among all elements.

    Parameters
    ----------
    ary : array_like
    to_end, to_begin : array_like, optional
        What stands behind and before them, in the type of `ary`.

    Returns
    -------
    ndarray
        With one axis.
    """
    ary = as_array(ary)
    arrays, attrs = [ary], {}
    for name, value in (("to_begin", to_begin), ("to_end", to_end)):
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            attrs[f"{name}_scalar"] = float(value)
        elif value is not None:
            arrays.append(as_array(value))
            attrs[f"{name}_arr_given"] = True
    return operate("_npi_ediff1d", *arrays, **attrs)


def interp(x, xp, fp, left=None, right=None, period=None):
    """Values of the function that is linear between points, in float64 and without gradient.

    Parameters
    ----------
    x : array_like
    xp, fp : array_like
        The points; `xp` ascends.
    left, right : float, optional
        The values before and behind all points; by default those of the first and the last.
    period : float, optional
        The function repeats.

    Returns
    -------
    ndarray
    """
    arrays = [operate("Cast", as_array(array), dtype="float64") for array in (xp, fp, x)]
    return operate("_npi_interp", *arrays, left=left, right=right, period=period)
