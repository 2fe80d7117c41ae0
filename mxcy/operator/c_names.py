"""The names of all operators as MXNet's C interface gives them, for programs that ask there."""

import ctypes

from mxcy.operator import get_all_registered_operators

__all__ = ["MXListAllOpNames"]

_kept: list = []  # what pointers that were handed out point to


def MXListAllOpNames(out_size, out_array):  # noqa: N802
    """Tell the operators' names.

    Parameters
    ----------
    out_size, out_array : object
        What ``ctypes.byref`` makes of a ``c_uint`` and of a ``POINTER(c_char_p)``.

    Returns
    -------
    int
        0, as MXNet's functions do.
    """
    names = [name.encode("utf-8") for name in get_all_registered_operators()]
    _kept[:] = [(ctypes.c_char_p * len(names))(*names)]
    out_size._obj.value = len(names)
    pointer = ctypes.cast(_kept[0], ctypes.POINTER(ctypes.c_char_p))
    ctypes.pointer(out_array._obj)[0] = pointer
    return 0
