"""NumPy arrays next to inaccessible memory: accesses beyond their end kill the process."""

import ctypes
import math
import mmap
import weakref

import numpy as np

__all__ = ["array_like", "empty"]

_PAGE = mmap.PAGESIZE
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_KEPT = 16  # free blocks kept per size

_idle: dict[int, list] = {}  # pages -> blocks


class _Block:
    """Pages between two that are out of bounds."""

    def __init__(self, pages):
        self.pages = pages
        self.memory = mmap.mmap(-1, (pages + 2) * _PAGE)
        self.first = ctypes.addressof(ctypes.c_char.from_buffer(self.memory)) + _PAGE
        for address in (self.first - _PAGE, self.first + pages * _PAGE):
            if _libc.mprotect(address, _PAGE, 0) != 0:
                raise OSError(ctypes.get_errno(), "mprotect")


def _take(pages):
    waiting = _idle.get(pages)
    return waiting.pop() if waiting else _Block(pages)


def _give(block):
    waiting = _idle.setdefault(block.pages, [])
    if len(waiting) < _KEPT:
        waiting.append(block)


def empty(shape, dtype, at_end=True):
    """An array whose memory ends (or begins) where the process may not read or write.

    Parameters
    ----------
    shape : tuple of int
    dtype : numpy.dtype
    at_end : bool
        Whether its last element is the last before the forbidden page; otherwise its first is the
        first after one.
    """
    dtype = np.dtype(dtype)
    nbytes = math.prod(shape) * dtype.itemsize
    pages = -(-nbytes // _PAGE)
    block = _take(pages)
    address = block.first + (pages * _PAGE - nbytes if at_end else 0)
    octets = (ctypes.c_uint8 * nbytes).from_address(address)
    weakref.finalize(octets, _give, block)
    return np.frombuffer(octets, dtype).reshape(shape)


def array_like(values, at_end=True):
    """A guarded copy of an array."""
    copy = empty(values.shape, values.dtype, at_end)
    copy[...] = values
    return copy
