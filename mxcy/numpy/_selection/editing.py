"""`mx.np` functions that delete, insert, resize or fill elements."""

import numpy as onp

from mxcy._base import dtypes
from mxcy._base.errors import InvalidIndexError, InvalidValueError
from mxcy.base import integer_types
from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import as_np_array, is_array
from mxcy.numpy._calls.symbolic import is_symbol
from mxcy.numpy._selection.choosing import take
from mxcy.numpy._selection.indices import axis_of, host_indices, spread
from mxcy.numpy._shape.manipulation import concatenate, ravel, reshape

__all__ = ["delete", "fill_diagonal", "insert", "resize"]


def _edited(arr, axis):
    """Return the array to edit and its axis; flattened if no axis is given."""
    array = as_np_array(arr)
    if axis is None:
        return ravel(array), 0
    return array, axis_of("arr", array, axis)


def _place(arr, obj, axis, reach):
    """Return the operator attributes for an integer or a slice, None for other indices."""
    if isinstance(obj, slice):
        step = 1 if obj.step is None else obj.step
        return {"start": obj.start, "stop": obj.stop, "step": step, "int_ind": None}
    if isinstance(obj, bool) or not isinstance(obj, integer_types):
        return None
    if not is_symbol(arr):
        array, place = _edited(arr, axis)
        extent = array.shape[place]
        if not -extent <= obj < extent + reach:
            raise InvalidIndexError(
                f"index {obj} is out of bounds for axis {place} with size {extent}"
            )
    return {"start": None, "stop": None, "step": None, "int_ind": int(obj)}


def delete(arr, obj, axis=None):
    """Return an array with slices along an axis deleted.

    Parameters
    ----------
    arr : array_like
    obj : int, slice, or array_like of int or bool
        Slices to delete. As in MXNet 2, indices out of bounds in an ``ndarray`` are ignored; others
        follow NumPy.
    axis : int, optional
        The array is flattened first if omitted.

    Returns
    -------
    ndarray

    Raises
    ------
    IndexError
        If an index is out of bounds.
    """
    place = _place(arr, obj, axis, 0)
    if place is not None:
        return operate("_npi_delete", as_np_array(arr), axis=axis, **place)
    array, axis = _edited(arr, axis)
    gone, extent = host_indices(obj), array.shape[axis]
    if is_array(obj) and gone.dtype.kind != "b":
        gone = gone[(gone >= 0) & (gone < extent)]
    kept = onp.delete(onp.arange(extent), gone)
    return take(array, kept, axis)


def insert(arr, obj, values, axis=None):
    """Return an array with slices inserted along an axis.

    Parameters
    ----------
    arr : array_like
    obj : int, slice, or array_like of int or bool
        Indices before which to insert.
    values : array_like
        Cast to the dtype of `arr` and broadcast.
    axis : int, optional
        The array is flattened first if omitted.

    Returns
    -------
    ndarray

    Raises
    ------
    IndexError
        If an index is out of bounds.
    """
    place = _place(arr, obj, axis, 1)
    if place is not None:
        name = "_npi_insert_scalar" if place["int_ind"] is not None else "_npi_insert_slice"
        if isinstance(values, (int, float)):
            return operate(name, as_np_array(arr), val=float(values), axis=axis, **place)
        return operate(name, as_np_array(arr), as_np_array(values), axis=axis, **place)
    array, axis = _edited(arr, axis)
    extent = array.shape[axis]
    places = host_indices(obj)
    places = onp.flatnonzero(places) if places.dtype.kind == "b" else places
    added = as_np_array(values)
    if added.dtype != array.dtype:
        added = operate("Cast", added, dtype=dtypes.name_of(array.dtype_code))
    count = places.size
    if places.size == 1:
        added = reshape(added, (1,) * (array.ndim - added.ndim) + added.shape)
        if places.ndim == 0:
            added = operate("_npi_moveaxis", added, source=(0,), destination=(axis,))
        count = added.shape[axis]
        places = onp.repeat(places.reshape(1), count)
    wrong = places[(places < -extent) | (places > extent)]
    if wrong.size:
        raise InvalidIndexError(
            f"index {wrong[0]} is out of bounds for axis {axis} with size {extent}"
        )
    places = onp.where(places < 0, places + extent, places)
    order = onp.argsort(places, kind="stable")
    places[order] += onp.arange(count)
    source = onp.full(extent + count, -1)
    source[places] = extent + onp.arange(count)
    source[source < 0] = onp.arange(extent)
    shape = (*array.shape[:axis], count, *array.shape[axis + 1 :])
    return take(concatenate((array, spread(added, shape)), axis), source, axis)


def resize(a, new_shape):
    """Return an array with another shape, repeating elements cyclically if there are too few.

    Parameters
    ----------
    a : array_like
    new_shape : int or tuple of int

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If an extent is negative.
    """
    shape = (new_shape,) if hasattr(new_shape, "__index__") else tuple(new_shape)
    if min(shape, default=0) < 0:
        raise InvalidValueError("all elements of `new_shape` must be non-negative")
    array = ravel(a)
    if not array.size:
        return operate("_npi_zeros", shape=shape, dtype=dtypes.name_of(array.dtype_code))
    places = onp.arange(onp.prod(shape, dtype=onp.int64)) % array.size
    return reshape(take(array, places), shape)


def fill_diagonal(a, val, wrap=False):
    """Fill the main diagonal of an array with at least two axes.

    Parameters
    ----------
    a : ndarray
        With more than two axes, all extents must be equal.
    val : number or array_like
        Repeated cyclically if it has too few elements.
    wrap : bool
        Whether the diagonal of a tall matrix wraps around.

    Raises
    ------
    ValueError
        If `a` has no diagonal.
    """
    if a.ndim < 2:
        raise InvalidValueError("array must be at least 2-d")
    end = a.size
    if a.ndim == 2:
        step = a.shape[1] + 1
        if not wrap:
            end = min(end, a.shape[1] * a.shape[1])
    else:
        if len(set(a.shape)) > 1:
            raise InvalidValueError("All dimensions of input must be of equal length")
        step = 1 + int(onp.cumprod(a.shape[:-1]).sum())
    places = onp.arange(0, end, step)
    if not places.size:
        return
    values = val if isinstance(val, (int, float)) else resize(val, places.size)
    a[tuple(onp.unravel_index(places, a.shape))] = values
