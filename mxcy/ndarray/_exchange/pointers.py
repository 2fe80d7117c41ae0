"""Arrays as pointers for callbacks of the C interface, and their conversion back.

Programs write ``NDArray(ctypes.cast(array, NDArrayHandle))`` for arrays passed to a monitor. A
pointer is the address of the array object, and valid while the array is among the last few that
were cast.
"""

import ctypes
from collections import deque

from mxcy.base import MXNetError

__all__ = ["array_at", "pointer_to"]

#: the most recently cast arrays, kept alive
_lately: deque = deque(maxlen=8)


def pointer_to(array):
    """Return a pointer to an array.

    Parameters
    ----------
    array : NDArray

    Returns
    -------
    ctypes.c_void_p
    """
    _lately.append(array)
    return ctypes.c_void_p(id(array))


def array_at(pointer):
    """Return the array of a pointer.

    Parameters
    ----------
    pointer : ctypes.c_void_p

    Returns
    -------
    NDArray

    Raises
    ------
    MXNetError
        If it does not point to a recently cast array.
    """
    for array in _lately:
        if id(array) == pointer.value:
            return array
    raise MXNetError("NDArray: the handle does not point to a recently cast array")
