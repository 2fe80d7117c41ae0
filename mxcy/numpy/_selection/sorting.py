"""Functions of `mx.np` that order elements and look for them."""

import numpy as onp

from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.numpy._calls.direct import direct
from mxcy.numpy._calls.general import call, operate
from mxcy.numpy._calls.handlers import handles
from mxcy.numpy._calls.operands import (
    as_array,
    as_np_array,
    as_operands,
    is_array,
    is_complex,
    numbers_only,
)
from mxcy.numpy._calls.symbolic import is_symbol
from mxcy.numpy._shape.manipulation import promoted, ravel

__all__ = [
    "argpartition",
    "argsort",
    "argwhere",
    "digitize",
    "flatnonzero",
    "lexsort",
    "msort",
    "nonzero",
    "partition",
    "searchsorted",
    "sort",
]


def _ordered(name, a, axis, descending, **attrs):
    array = as_np_array(a)
    if is_complex(array):
        raise MXNetError(f"Error in operator {name}: arrays of {array.dtype} are not supported")
    if array.ndim == 0:
        array = array.reshape((1,)) if axis is None else _refuse_axis(array, axis)
    elif not array.size:
        if axis is not None and not -array.ndim <= axis < array.ndim:
            _refuse_axis(array, axis)
        shape = (0,) if axis is None else array.shape
        return operate("Cast", array.reshape(shape), dtype=attrs.get("dtype", array.dtype))
    return operate(name, array, axis=axis, is_ascend=not descending, **attrs)


def _refuse_axis(array, axis):
    raise onp.exceptions.AxisError(axis, array.ndim)


def _is_descending(descending):
    """False for text: in NumPy and MXNet 1.x the third parameter is a kind of algorithm."""
    return bool(descending) and not isinstance(descending, str)


@direct("sort", {"descending": ""})
def sort(a, axis=-1, descending=False, stable=True, kind=None, order=None):
    """The elements in order along an axis, NaN last.

    Parameters
    ----------
    a : array_like
    axis : int or None
        None sorts the flattened array.
    descending : bool
        The largest first.
    stable : bool
        Equal elements always keep their order.
    kind, order : optional
        Have no effect.

    Returns
    -------
    ndarray
    """
    return _ordered("sort", a, axis, _is_descending(descending))


@direct("argsort", {"descending": ""}, dtype="int64")
def argsort(a, axis=-1, descending=False, stable=True, kind=None, order=None):
    """The positions that put the elements along an axis in order, as int64.

    Parameters
    ----------
    a : array_like
    axis : int or None
        None sorts the flattened array.
    descending : bool
        The largest first.
    stable : bool
        Equal elements always keep their order.
    kind, order : optional
        Have no effect.

    Returns
    -------
    ndarray
    """
    return _ordered("argsort", a, axis, _is_descending(descending), dtype="int64")


def msort(a):
    """The elements in order along the first axis.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    ndarray
    """
    return sort(a, axis=0)


def partition(a, kth, axis=-1, kind="introselect", order=None):
    """The elements with the k-th ones where sorting puts them, no larger ones before.

    Parameters
    ----------
    a : array_like
    kth : int or sequence of int
    axis : int or None
        None partitions the flattened array.
    kind, order : optional
        Have no effect.

    Returns
    -------
    ndarray
    """
    _check_places(a, kth, axis)
    return sort(a, axis)


def argpartition(a, kth, axis=-1, kind="introselect", order=None):
    """The positions that partition the elements along an axis, as int64.

    Parameters
    ----------
    a : array_like
    kth : int or sequence of int
    axis : int or None
        None partitions the flattened array.
    kind, order : optional
        Have no effect.

    Returns
    -------
    ndarray
    """
    _check_places(a, kth, axis)
    return argsort(a, axis)


def _check_places(a, kth, axis):
    array = as_array(a)
    extent = array.size if axis is None or not array.ndim else array.shape[axis]
    for place in onp.atleast_1d(onp.asarray(kth)):
        if extent and not -extent <= place < extent:
            raise ValueError(f"kth: {place} is out of bounds for an axis of extent {extent}")


def lexsort(keys, axis=-1):
    """The positions that put several keys in order, the last one first.

    Parameters
    ----------
    keys : array_like, or sequence of array_like
        The last one decides; those before it where it has equal elements.
    axis : int

    Returns
    -------
    ndarray
    """
    if isinstance(keys, (list, tuple)):
        keys = [as_np_array(key) for key in keys]
    else:
        keys = list(as_np_array(keys))
    if not keys:
        raise TypeError("lexsort: expected one key at least")
    axis = axis % max(keys[0].ndim, 1)
    order = argsort(keys[0], axis)
    for key in keys[1:]:
        taken = operate("_take_along", key, order, axis=axis, taken=key.shape[axis])
        again = argsort(taken, axis)
        order = operate("_take_along", order, again, axis=axis, taken=key.shape[axis])
    return order


def searchsorted(a, v, side="left", sorter=None):
    """Where to put values into a sorted array so that it stays sorted, as int64.

    Parameters
    ----------
    a : array_like
        Of one dimension, in ascending order unless `sorter` tells it.
    v : number or array_like
    side : {'left', 'right'}
        Before or behind equal elements.
    sorter : array_like, optional
        The positions that sort `a`.

    Returns
    -------
    ndarray
    """
    if side not in ("left", "right"):
        raise ValueError(f"side must be 'left' or 'right', got {side!r}")
    array = as_np_array(a)
    if sorter is not None:
        array = operate("take", array, as_np_array(sorter), axis=0)
    return operate("_mx_searchsorted", array, as_np_array(v), side=side)


def digitize(x, bins, right=False):
    """In which interval each element lies, as int64.

    Parameters
    ----------
    x : array_like
    bins : array_like
        The bounds, ascending or descending.
    right : bool
        Intervals have their upper bound in place of the lower one.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        When the bounds are in no order.
    """
    intervals = onp.digitize(as_np_array(x).asnumpy(), as_np_array(bins).asnumpy(), right)
    return as_np_array(onp.asarray(intervals, onp.int64))


@front.shortcut
def nonzero(a):
    """The indices of the elements that are not zero, an array for each dimension.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    tuple of ndarray
        What has no dimensions counts as an array of one element, as in MXNet.

    Raises
    ------
    ValueError
        For an array without dimensions with NumPy's types: NumPy 2 has no indices for it.
    """
    array = as_np_array(a)
    if array.ndim == 0 and front.has_numpy_types():
        raise ValueError("nonzero: arrays without dimensions have no indices; use a != 0")
    coordinates = operate("_npx_nonzero", array)
    return tuple(coordinates[:, axis] for axis in range(array.ndim or 1))


@front.shortcut
def flatnonzero(a):
    """The indices of the elements of the flattened array that are not zero.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    ndarray
    """
    return operate("_npx_nonzero", ravel(a)).reshape((-1,))


@front.shortcut
def argwhere(a):
    """The indices of the elements that are not zero, a row for each.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    ndarray
    """
    array = as_np_array(a)
    coordinates = operate("_npx_nonzero", array)
    return coordinates[:, :0] if array.ndim == 0 else coordinates


@handles("where")
def where(called, inputs, raw, out, keywords):
    """Choose between arrays, an array and a number, or numbers; or find what is not zero."""
    condition, x, y = inputs
    if (x is None) != (y is None):
        raise ValueError("where: either both or neither of x and y should be given")
    if x is None:
        return nonzero(condition)
    condition = as_np_array(condition)
    python = [isinstance(value, (bool, int, float)) for value in (x, y)]
    if all(python) and (is_symbol(condition) or not front.has_numpy_types()):
        if isinstance(x, bool) and isinstance(y, bool):
            return operate("_npi_where", condition, as_np_array(x), as_np_array(y))
        return operate("_npi_where_scalar2", condition, x=float(x), y=float(y))
    x, y = (v if is_array(v) or numbers_only((v,)) else as_array(v) for v in (x, y))
    if not numbers_only((x, y)):
        kind, (x, y) = as_operands(x, y, bits=True)
        if kind:
            attrs = {"scalar": float(y), "is_int": isinstance(y, int)}
            name = "_npi_where_rscalar" if kind == "number" else "_npi_where_lscalar"
            return operate(name, condition, x, **attrs)
    return call(called, (condition, *promoted([x, y])), raw, out, keywords)
