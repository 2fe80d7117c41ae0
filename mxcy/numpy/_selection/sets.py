"""Unique elements and set operations."""

import functools
from collections import namedtuple

import numpy as onp

from mxcy._library import front
from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import as_np_array, from_onp, is_array
from mxcy.numpy._selection.sorting import searchsorted
from mxcy.numpy._shape.manipulation import concatenate, promoted, ravel
from mxcy.ops.core.record import find

__all__ = [
    "in1d",
    "intersect1d",
    "isin",
    "setdiff1d",
    "setxor1d",
    "union1d",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]

_All = namedtuple("UniqueAllResult", "values indices inverse_indices counts")
_Counts = namedtuple("UniqueCountsResult", "values counts")
_Inverse = namedtuple("UniqueInverseResult", "values inverse_indices")


@functools.partial(front.shortcut, op=find("sort"))
def unique(
    ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True
):
    """Return the sorted unique elements of an array.

    Parameters
    ----------
    ar : array_like
    return_index : bool
        Also return the indices of first occurrences.
    return_inverse : bool
        Also return the indices that reconstruct the input, in its shape as in NumPy 2; 1-D if
        `axis` is given.
    return_counts : bool
        Also return the number of occurrences.
    axis : int, optional
        Find unique slices along this axis instead of elements.
    equal_nan : bool
        Treat all NaNs as equal.

    Returns
    -------
    ndarray, or a tuple of them
    """
    array = as_np_array(ar)
    parts = operate(
        "_npi_unique",
        array,
        return_index=return_index,
        return_inverse=return_inverse,
        return_counts=return_counts,
        axis=axis,
        **({} if equal_nan else {"equal_nan": False}),
    )
    if not isinstance(parts, list):
        return parts
    if return_inverse and axis is None and is_array(array):
        place = 1 + bool(return_index)
        parts[place] = parts[place].reshape(array.shape)
    return tuple(parts)


def unique_all(x):
    """Return unique elements, first indices, inverse indices and counts; NaNs are distinct.

    Parameters
    ----------
    x : array_like

    Returns
    -------
    namedtuple
        values, indices, inverse_indices and counts.
    """
    values, indices, inverse, counts = unique(x, True, True, True, equal_nan=False)
    return _All(values, indices, inverse, counts)


def unique_counts(x):
    """Return unique elements and their counts; NaNs are distinct.

    Parameters
    ----------
    x : array_like

    Returns
    -------
    namedtuple
        values and counts.
    """
    return _Counts(*unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x):
    """Return unique elements and the indices that reconstruct the input; NaNs are distinct.

    Parameters
    ----------
    x : array_like

    Returns
    -------
    namedtuple
        values and inverse_indices.
    """
    values, inverse = unique(x, return_inverse=True, equal_nan=False)
    return _Inverse(values, inverse)


def unique_values(x):
    """Return the sorted unique elements; NaNs are distinct.

    Parameters
    ----------
    x : array_like

    Returns
    -------
    ndarray
    """
    return unique(x, equal_nan=False)


def _both(ar1, ar2):
    return promoted([ravel(ar1), ravel(ar2)])


def isin(element, test_elements, assume_unique=False, invert=False, kind=None):
    """Return elementwise whether an element is among the test elements.

    Parameters
    ----------
    element, test_elements : array_like
    assume_unique : bool
        Ignored.
    invert : bool
        Invert the result.
    kind : optional
        Ignored.

    Returns
    -------
    ndarray
        Booleans, in the shape of `element`.
    """
    element = as_np_array(element)
    values, others = _both(element, test_elements)
    # Integers use NumPy's lookup table; floats are searched. Complex numbers are left to
    # NumPy, as operators do not order them.
    if values.dtype.kind in "biuc" and not front.is_deferred():
        hosts = values.asnumpy(), others.asnumpy()
        return from_onp(onp.isin(*hosts, invert=invert).reshape(element.shape))
    if not others.size:
        member = operate("_npi_zeros_like", element != element)
    else:
        others = unique(others)
        places = searchsorted(others, values)
        near = operate("take", others, places, axis=0, mode="clip")
        member = (near == values).reshape(element.shape)
    return operate("_npi_logical_not", member) if invert else member


def in1d(ar1, ar2, assume_unique=False, invert=False):
    """Return whether each element of a flattened array is among the elements of another.

    Parameters
    ----------
    ar1, ar2 : array_like
    assume_unique : bool
        Ignored.
    invert : bool
        Invert the result.

    Returns
    -------
    ndarray
    """
    return isin(ravel(ar1), ar2, invert=invert)


def union1d(ar1, ar2):
    """Return the sorted union of two arrays.

    Parameters
    ----------
    ar1, ar2 : array_like

    Returns
    -------
    ndarray
    """
    return unique(concatenate(_both(ar1, ar2)))


def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    """Return the sorted intersection of two arrays.

    Parameters
    ----------
    ar1, ar2 : array_like
    assume_unique : bool
        Ignored.
    return_indices : bool
        Also return the indices of first occurrences in both arrays.

    Returns
    -------
    ndarray, or a tuple of three
    """
    first, second = _both(ar1, ar2)
    values, places = unique(first, return_index=True)
    kept = isin(values, second)
    common = values[kept]
    if not return_indices:
        return common
    others, other_places = unique(second, return_index=True)
    return common, places[kept], other_places[isin(others, first)]


def setdiff1d(ar1, ar2, assume_unique=False):
    """Return the sorted elements of `ar1` that are not in `ar2`.

    Parameters
    ----------
    ar1, ar2 : array_like
    assume_unique : bool
        Keep the order and duplicates of `ar1`.

    Returns
    -------
    ndarray
    """
    values = ravel(ar1) if assume_unique else unique(ar1)
    return values[isin(values, ar2, invert=True)]


def setxor1d(ar1, ar2, assume_unique=False):
    """Return the sorted symmetric difference of two arrays.

    Parameters
    ----------
    ar1, ar2 : array_like
    assume_unique : bool
        Ignored.

    Returns
    -------
    ndarray
    """
    first, second = _both(ar1, ar2)
    return unique(concatenate([setdiff1d(first, second), setdiff1d(second, first)]))
