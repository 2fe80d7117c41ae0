"""Indexing of device arrays: reading and writing the elements of a key."""

import numpy as np

from mxcy._base import dtypes
from mxcy.gpu.copies import upload
from mxcy.gpu.reference import operand
from mxcy.gpu.views import cupy, view, working_on
from mxcy.ops.core import reference

__all__ = ["copy_picked", "write"]


def copy_picked(array, picked, target):
    """Copy the elements of a NumPy view, ``array.held_view()[key]``, to another array.

    Parameters
    ----------
    array, target : NDArrayBase
        On the same device, and held.
    picked : numpy.ndarray
    """
    with working_on(array.context.device_id):
        view(target)[...] = _alike(array, picked)


def write(array, key, value):
    """Do ``array[key] = value``.

    Parameters
    ----------
    array : NDArrayBase
        On a device, and held.
    key : tuple
        As NumPy takes it.
    value : numpy.ndarray or NDArrayBase
        A NumPy array of the `memory_type`, or an array that is held.

    Raises
    ------
    ValueError
        When the array is read-only.
    """
    if not array.writable:
        raise ValueError("assignment destination is read-only")
    device = array.context.device_id
    if isinstance(value, np.ndarray) and value.ndim <= len(array.shape) and all(map(_is_all, key)):
        upload(array, value)
        return
    with working_on(device) as xp:
        if isinstance(value, np.ndarray):
            values = xp.asarray(value)
        else:
            values = operand(value, device, xp)
            if array.dtype_code == dtypes.BFLOAT16:
                values = reference.narrow(values, xp)
        if any(isinstance(entry, (np.ndarray, list)) for entry in key):
            view(array)[tuple(_entry(entry, xp) for entry in key)] = values
            return
        if Ellipsis not in key:
            key = (*key, Ellipsis)
        target = _alike(array, array.held_view()[key])
        # As in NumPy, leading axes of size 1 are ignored.
        extra = values.ndim - target.ndim
        if extra > 0 and values.shape[:extra] == (1,) * extra:
            values = values.reshape(values.shape[extra:])
        target[...] = values


def _is_all(entry):
    return entry is Ellipsis or (isinstance(entry, slice) and entry == slice(None))


def _alike(array, picked):
    """Return the CuPy array over the elements that a NumPy view addresses."""
    if not picked.size:
        return cupy().empty(picked.shape, picked.dtype)
    base = view(array)
    first = picked.__array_interface__["data"][0] - array.address
    return cupy().ndarray(picked.shape, picked.dtype, base.data + first, picked.strides)


def _entry(entry, xp):
    """Convert an entry of a key for CuPy."""
    return xp.asarray(entry) if isinstance(entry, (np.ndarray, list)) else entry
