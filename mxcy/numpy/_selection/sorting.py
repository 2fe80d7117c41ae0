"""`mx.np` functions for sorting and searching."""

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
from mxcy.ops.core.infer import normal_axis

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
    if axis is not None:
        normal_axis(axis, array.ndim)  # or an error
    if array.ndim == 0:
        array = array.reshape((1,))
    elif not array.size:
        shape = (0,) if axis is None else array.shape
        return operate("Cast", array.reshape(shape), dtype=attrs.get("dtype", array.dtype))
    return operate(name, array, axis=axis, is_ascend=not descending, **attrs)


def _is_descending(descending):
    """Return whether `descending` is set; False for strings, NumPy's and MXNet 1.x's `kind`."""
    return bool(descending) and not isinstance(descending, str)


@direct("sort", {"descending": ""})
def sort(a, axis=-1, descending=False, stable=True, kind=None, order=None):
    """Return an array sorted along an axis, NaN last.

    Parameters
    ----------
    a : array_like
    axis : int or None
        None sorts the flattened array.
    descending : bool
        Sort in descending order.
    stable : bool
        Ignored: sorting is always stable.
    kind, order : optional
        Ignored.

    Returns
    -------
    ndarray
    """
    return _ordered("sort", a, axis, _is_descending(descending))


@direct("argsort", {"descending": ""}, dtype="int64")
def argsort(a, axis=-1, descending=False, stable=True, kind=None, order=None):
    """Return the int64 indices that sort an array along an axis.

    Parameters
    ----------
    a : array_like
    axis : int or None
        None sorts the flattened array.
    descending : bool
        Sort in descending order.
    stable : bool
        Ignored: sorting is always stable.
    kind, order : optional
        Ignored.

    Returns
    -------
    ndarray
    """
    return _ordered("argsort", a, axis, _is_descending(descending), dtype="int64")


def msort(a):
    """Return an array sorted along the first axis.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    ndarray
    """
    return sort(a, axis=0)


def partition(a, kth, axis=-1, kind="introselect", order=None):
    """Return a partitioned array: the k-th elements in sorted position, smaller ones before them.

    Parameters
    ----------
    a : array_like
    kth : int or sequence of int
    axis : int or None
        None partitions the flattened array.
    kind, order : optional
        Ignored.

    Returns
    -------
    ndarray
    """
    _check_places(a, kth, axis)
    return sort(a, axis)


def argpartition(a, kth, axis=-1, kind="introselect", order=None):
    """Return the int64 indices that partition an array along an axis.

    Parameters
    ----------
    a : array_like
    kth : int or sequence of int
    axis : int or None
        None partitions the flattened array.
    kind, order : optional
        Ignored.

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
            raise ValueError(f"kth: {place} is out of bounds for an axis of size {extent}")


def lexsort(keys, axis=-1):
    """Return the indices that sort by several keys, the last one being the primary key.

    Parameters
    ----------
    keys : array_like, or sequence of array_like
        Keys; the last one is primary, those before it break ties.
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
    """Find the int64 indices where values would be inserted to keep an array sorted.

    Parameters
    ----------
    a : array_like
        1-D, ascending unless `sorter` is given.
    v : number or array_like
    side : {'left', 'right'}
        Index before ('left') or after ('right') equal elements.
    sorter : array_like, optional
        Indices that sort `a`.

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
    """Return the int64 indices of the bins that the elements belong to.

    Parameters
    ----------
    x : array_like
    bins : array_like
        Bin edges, ascending or descending.
    right : bool
        Bins include their right edge instead of the left one.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If the edges are not monotonic.
    """
    intervals = onp.digitize(as_np_array(x).asnumpy(), as_np_array(bins).asnumpy(), right)
    return as_np_array(onp.asarray(intervals, onp.int64))


@front.shortcut
def nonzero(a):
    """Return the indices of the nonzero elements, one array per axis.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    tuple of ndarray
        A 0-d array is treated as 1-D, as in MXNet.

    Raises
    ------
    ValueError
        For a 0-d array with NumPy's dtypes, as in NumPy 2.
    """
    array = as_np_array(a)
    if array.ndim == 0 and front.has_numpy_types():
        raise ValueError("nonzero: arrays without dimensions have no indices; use a != 0")
    coordinates = operate("_npx_nonzero", array)
    return tuple(coordinates[:, axis] for axis in range(array.ndim or 1))


@front.shortcut
def flatnonzero(a):
    """Return the indices of the nonzero elements of the flattened array.

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
    """Return the indices of the nonzero elements, one row per element.

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
    """Choose between arrays or scalars by a condition, or find its nonzero elements."""
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
