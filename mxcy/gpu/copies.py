"""Copies between device arrays and NumPy arrays. Callers hold the device arrays."""

import numpy as np

from mxcy._base import dtypes
from mxcy.gpu import driver

__all__ = ["download", "upload"]


def memory_type(code):
    """NumPy dtype of the elements in memory; uint16 for bfloat16."""
    return np.dtype(np.uint16) if code == dtypes.BFLOAT16 else dtypes.dtype_of(code)


def upload(array, values):
    """Copy a NumPy array to a device array.

    Parameters
    ----------
    array : NDArrayBase
    values : numpy.ndarray
        Broadcast to the array's shape and cast to its `memory_type`.
    """
    kind = memory_type(array.dtype_code)
    if values.dtype != kind:
        values = values.view(kind) if array.dtype_code == dtypes.BFLOAT16 else values.astype(kind)
    values = np.ascontiguousarray(np.broadcast_to(values, array.shape))
    address, device = values.__array_interface__["data"][0], array.context.device_id
    driver.copy(array.address, device, address, driver.HOST, values.nbytes)


def download(array):
    """Return a read-only NumPy copy of a device array; bfloat16 as uint16.

    Parameters
    ----------
    array : NDArrayBase

    Returns
    -------
    numpy.ndarray
    """
    values = np.empty(array.shape, memory_type(array.dtype_code))
    address, device = values.__array_interface__["data"][0], array.context.device_id
    driver.copy(address, driver.HOST, array.address, device, values.nbytes)
    values.flags.writeable = False
    return values
