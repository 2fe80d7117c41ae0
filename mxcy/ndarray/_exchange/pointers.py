"""Arrays as pointers: what callbacks of the C interface get, and turn into arrays again.

Programs write ``NDArray(ctypes.cast(array, NDArrayHandle))`` for what a monitor shows them. A
pointer is the address of the array object; it stands for the array while that is one of the last
few that were cast.
"""

import ctypes
from collections import deque

from mxcy.base import MXNetError

__all__ = ["array_at", "pointer_to"]

#: the arrays that were cast lately, which keeps them alive
_lately: deque = deque(maxlen=8)


def pointer_to(array):
    """A pointer to an array.

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
    """The array of a pointer.

    Parameters
    ----------
    pointer : ctypes.c_void_p

    Returns
    -------
    NDArray

    Raises
    ------
    MXNetError
        When it is no pointer to an array that was cast lately.
    """
    for array in _lately:
        if id(array) == pointer.value:
            return array
    raise MXNetError("NDArray: the handle points to no array, or the cast was long ago")
