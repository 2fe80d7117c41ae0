"""Functions of `mx.np` that write into arrays."""

import numpy as onp

from mxcy.numpy._arrays.ndarray import ndarray
from mxcy.numpy._calls.operands import as_np_array, is_array
from mxcy.numpy._selection.choosing import take_along_axis
from mxcy.numpy._selection.editing import resize

__all__ = ["copyto", "place", "put", "put_along_axis", "putmask"]


def _target(name, array):
    if not is_array(array):
        raise TypeError(f"{name}: expected an array of mxcy, got {type(array).__name__}")
    return array.as_np_ndarray()


def _masked(name, array, mask):
    """An array to write into, and a mask in its shape."""
    target, mask = _target(name, array), onp.asarray(mask, bool)
    if mask.size != target.size:
        raise ValueError(f"{name}: the mask has {mask.size} elements, the array {target.size}")
    return target, mask.reshape(target.shape)


def copyto(dst, src, casting="same_kind", where=True):
    """Write the elements of one array into another.

    Parameters
    ----------
    dst : ndarray
    src : array_like
        Broadcast to it.
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}
        Which changes of the element type are allowed.
    where : array_like of bool
        Which elements are written.

    Raises
    ------
    TypeError
        When the element type may not change so.
    """
    target = _target("copyto", dst)
    if not isinstance(src, (bool, int, float, complex)):
        src = as_np_array(src)
        if not onp.can_cast(src.dtype, target.dtype, casting):
            raise TypeError(f"copyto: cannot cast {src.dtype} to {target.dtype} by {casting!r}")
    if where is True:
        target[...] = src
        return
    mask = onp.broadcast_to(onp.asarray(where), target.shape)
    values = src.broadcast_to(target.shape)[mask] if isinstance(src, ndarray) else src
    target[mask] = values


def put(a, ind, v, mode="raise"):
    """Write elements at places in the flattened array.

    Parameters
    ----------
    a : ndarray
    ind : array_like of int
    v : array_like
        Taken from the first one again where there are too few.
    mode : {'raise', 'clip', 'wrap'}
        What happens to places outside: an error, the nearest, or modulo the size.

    Raises
    ------
    IndexError
        When a place is outside in mode ``'raise'``.
    ValueError
        When there is no such mode, or nothing to write.
    """
    target = _target("put", a)
    places = onp.asarray(ind).ravel().astype(onp.int64)
    if mode == "clip":
        places = places.clip(0, target.size - 1)
    elif mode == "wrap":
        places = places % target.size
    elif mode != "raise":
        raise ValueError(f"put: mode must be 'raise', 'clip' or 'wrap', got {mode!r}")
    wrong = places[(places < -target.size) | (places >= target.size)]
    if wrong.size:
        raise IndexError(f"index {wrong[0]} is out of bounds for size {target.size}")
    if places.size:
        target[onp.unravel_index(places % target.size, target.shape)] = _as_many(v, places.size)


def _as_many(values, count):
    """So many elements, from the first one again where there are too few."""
    values = as_np_array(values)
    if not values.size:
        raise ValueError("there are no values to write")
    return resize(values, count)


def putmask(a, mask, values):
    """Write elements where a mask is true, each the one at its place among `values`.

    Parameters
    ----------
    a : ndarray
    mask : array_like of bool
        Of the same shape.
    values : array_like
        Taken from the first one again where there are too few.
    """
    target, mask = _masked("putmask", a, mask)
    if mask.any():
        target[mask] = _as_many(values, target.size)[mask.ravel()]


def place(arr, mask, vals):
    """Write elements where a mask is true, one after the other.

    Parameters
    ----------
    arr : ndarray
    mask : array_like of bool
        Of the same size.
    vals : array_like
        Taken from the first one again where there are too few.
    """
    target, mask = _masked("place", arr, mask)
    if mask.any():
        target[mask] = _as_many(vals, int(mask.sum()))


def put_along_axis(arr, indices, values, axis):
    """Write elements at indices along an axis, which differ from place to place.

    Parameters
    ----------
    arr : ndarray
    indices : array_like of int
        Broadcast against `arr` in all axes but `axis`.
    values : array_like
        Broadcast to `indices`.
    axis : int or None
        None writes into the flattened array.
    """
    target = _target("put_along_axis", arr)
    places = onp.arange(target.size).reshape(target.shape)
    chosen = take_along_axis(as_np_array(places), indices, axis).asnumpy()
    shape = onp.unravel_index(chosen, target.shape)
    target[shape] = values if isinstance(values, (int, float)) else as_np_array(values)
