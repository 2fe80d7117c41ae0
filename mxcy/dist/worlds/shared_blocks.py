"""Blocks of memory in which processes of one machine pass each other bodies of messages."""

import threading
from collections import deque

import numpy as np

from mxcy.dist.worlds.bells import PAGE

__all__ = ["SharedBlock", "SharedBlocks"]

_LEAST, _MOST = 1 << 13, 1 << 26  # bytes of a block; other bodies go through MPI
_SPACE = 1 << 30  # bytes of all blocks of a process
_LOANS = 256  # bytes at the start of a block: one for each loan of it


class SharedBlocks:
    """The blocks of this process, and views of the blocks of others.

    A loan is a byte in the block, which its owner sets before it sends a message, and which the
    receiver clears when nothing refers to its view of the block any more. Blocks without loans are
    used again.

    Parameters
    ----------
    readers : iterable of int
        Places of the other processes that can read this one's blocks.
    map_memory : callable
        ``map_memory(place, start, length)`` returns memory of a process as numpy.ndarray of uint8;
        None is this process.

    Attributes
    ----------
    readers : frozenset of int
    """

    def __init__(self, readers, map_memory):
        self.readers, self._map = frozenset(readers), map_memory
        self._lock, self._used = threading.Lock(), 0
        self._free, self._foreign = {}, {}

    def take(self, count):
        """Uninitialized memory that this process writes before it sends it.

        Parameters
        ----------
        count : int
            Bytes.

        Returns
        -------
        SharedBlock or None
            None for a size that is better sent through MPI, or if too much is in use.
        """
        size = _size_for(count)
        if not _LEAST < size <= _MOST:
            return None
        free = self._free.setdefault(size, deque())
        with self._lock:
            for _ in range(len(free)):  # the last one first: it is in the cache
                memory = free.pop()
                if not memory.loans.any():
                    return SharedBlock(memory, free, count)
                free.appendleft(memory)
            if self._used + size > _SPACE:
                return None
            start, self._used = PAGE + self._used, self._used + size
        return SharedBlock(_Memory(self._map(None, start, size), start), free, count)

    def borrow(self, place, start, length, loan):
        """A block of another process, from a message.

        Parameters
        ----------
        place, start, length, loan : int
            The process, where its block is, bytes that it has sent, and the number of the loan.

        Returns
        -------
        numpy.ndarray of uint8
            While something refers to it, the block does not change.
        """
        memory = self._foreign.get((place, start))
        if memory is None:
            memory = _Memory(self._map(place, start, _size_for(length)), start)
            self._foreign[place, start] = memory
        return np.asarray(_Loan(memory, loan))[:length]


class SharedBlock:
    """A block of this process, to be sent as the body of messages; free when nothing refers to it.

    Attributes
    ----------
    nbytes, start : int
        Its size, and where it is in the memory of this process.
    """

    def __init__(self, memory, free, count):
        self._memory, self._free = memory, free
        self.nbytes, self.start = count, memory.start
        self.__array_interface__ = memory.content

    def __del__(self):
        self._free.append(self._memory)

    def array(self):
        """Its content, as numpy.ndarray of uint8."""
        return np.asarray(self)[: self.nbytes]

    @property
    def lent(self):
        """bool: whether a receiver still refers to it."""
        return bool(self._memory.loans.any())

    def lend(self):
        """The number of a new loan, or None if there are too many."""
        loans = self._memory.loans
        loan = int(loans.argmin())
        if loans[loan]:
            return None
        loans[loan] = 1
        return loan


class _Memory:
    """The loans of a block, and its content for NumPy."""

    def __init__(self, mapped, start):
        self.loans, self.start = mapped[:_LOANS], start
        self.content = mapped[_LOANS:].__array_interface__


class _Loan:
    """Ends when nothing refers to it."""

    def __init__(self, memory, number):
        self._memory, self._number = memory, number
        self.__array_interface__ = memory.content

    def __del__(self):
        self._memory.loans[self._number] = 0


def _size_for(count):
    """Bytes of a block for so many."""
    return 1 << (count + _LOANS - 1).bit_length()
