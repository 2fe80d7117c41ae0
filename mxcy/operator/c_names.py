"""Operator names through MXNet's C interface."""

import ctypes

from mxcy._library.c_functions import pointee
from mxcy.operator import get_all_registered_operators

__all__ = ["MXListAllOpNames"]

_kept: list = []  # targets of returned pointers


def MXListAllOpNames(out_size, out_array):  # noqa: N802
    """Return the operators' names.

    Parameters
    ----------
    out_size, out_array : object
        ``ctypes.byref`` of a ``c_uint`` and of a ``POINTER(c_char_p)``.

    Returns
    -------
    int
        0, for success.
    """
    names = [name.encode("utf-8") for name in get_all_registered_operators()]
    _kept[:] = [(ctypes.c_char_p * len(names))(*names)]
    pointee(out_size).value = len(names)
    pointer = ctypes.cast(_kept[0], ctypes.POINTER(ctypes.c_char_p))
    ctypes.pointer(pointee(out_array))[0] = pointer
    return 0
