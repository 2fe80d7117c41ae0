"""`mx.np` functions that write into arrays."""

import numpy as onp

from mxcy._base.errors import InvalidIndexError
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
    """Return the array to write into, and the mask in its shape."""
    target, mask = _target(name, array), onp.asarray(mask, bool)
    if mask.size != target.size:
        raise ValueError(f"{name}: the mask has {mask.size} elements, the array {target.size}")
    return target, mask.reshape(target.shape)


def copyto(dst, src, casting="same_kind", where=True):
    """Copy the elements of one array into another.

    Parameters
    ----------
    dst : ndarray
    src : array_like
        Broadcast to the shape of `dst`.
    casting : {'no', 'equiv', 'safe', 'same_kind', 'unsafe'}
        Which casts are allowed.
    where : array_like of bool
        Elements to write.

    Raises
    ------
    TypeError
        If the cast is not allowed.
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
    """Set elements at indices of the flattened array.

    Parameters
    ----------
    a : ndarray
    ind : array_like of int
    v : array_like
        Repeated cyclically if there are too few.
    mode : {'raise', 'clip', 'wrap'}
        Treatment of indices out of bounds: raise an error, clip, or wrap around.

    Raises
    ------
    IndexError
        If an index is out of bounds in mode ``'raise'``.
    ValueError
        If `mode` is unknown, or `v` is empty.
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
        raise InvalidIndexError(f"index {wrong[0]} is out of bounds for size {target.size}")
    if places.size:
        target[onp.unravel_index(places % target.size, target.shape)] = _as_many(v, places.size)


def _as_many(values, count):
    """Return `count` elements, repeating the values cyclically if there are too few."""
    values = as_np_array(values)
    if not values.size:
        raise ValueError("there are no values to write")
    return resize(values, count)


def putmask(a, mask, values):
    """Set elements where a mask is True, each to the value at the same flat position.

    Parameters
    ----------
    a : ndarray
    mask : array_like of bool
        Same shape as `a`.
    values : array_like
        Repeated cyclically if there are too few.
    """
    target, mask = _masked("putmask", a, mask)
    if mask.any():
        target[mask] = _as_many(values, target.size)[mask.ravel()]


def place(arr, mask, vals):
    """Set elements where a mask is True to consecutive values.

    Parameters
    ----------
    arr : ndarray
    mask : array_like of bool
        Same size as `arr`.
    vals : array_like
        Repeated cyclically if there are too few.
    """
    target, mask = _masked("place", arr, mask)
    if mask.any():
        target[mask] = _as_many(vals, int(mask.sum()))


def put_along_axis(arr, indices, values, axis):
    """Set elements along an axis, with separate indices for each 1-D slice.

    Parameters
    ----------
    arr : ndarray
    indices : array_like of int
        Broadcast against `arr` except along `axis`.
    values : array_like
        Broadcast to `indices`.
    axis : int or None
        None indexes the flattened array.
    """
    target = _target("put_along_axis", arr)
    places = onp.arange(target.size).reshape(target.shape)
    chosen = take_along_axis(as_np_array(places), indices, axis).asnumpy()
    shape = onp.unravel_index(chosen, target.shape)
    target[shape] = values if isinstance(values, (int, float)) else as_np_array(values)
