"""Recycled memory of messages: the first use of a new page costs more than copying it."""

from collections import deque

import numpy as np

__all__ = ["take"]

_LEAST, _MOST = 1 << 16, 1 << 25  # bytes of recycled arrays; others come from NumPy
_KEPT = 1 << 26  # bytes kept of each size
_free = {}  # by size, powers of two: deques of arrays


class _Block:
    """Owner of an array's memory, which is free again when nothing refers to the owner."""

    def __init__(self, array, free):
        self._array, self._free = array, free
        self.__array_interface__ = array.__array_interface__

    def __del__(self):
        self._free.append(self._array)


def take(count):
    """Uninitialized memory, which is reused when no array refers to it.

    Parameters
    ----------
    count : int
        Bytes.

    Returns
    -------
    numpy.ndarray of uint8
    """
    if not _LEAST <= count <= _MOST:
        return np.empty(count, np.uint8)
    size = 1 << (count - 1).bit_length()
    free = _free.get(size)
    if free is None:
        free = _free.setdefault(size, deque(maxlen=min(8, _KEPT // size)))
    try:
        array = free.pop()
    except IndexError:
        array = np.empty(size, np.uint8)
    return np.asarray(_Block(array, free))[:count]
