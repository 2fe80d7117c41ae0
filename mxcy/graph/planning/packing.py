"""Packing of storages with known lifetimes into one block, without fixed buffers.

Events are (storage, whether it begins, anything), in order; see `mxcy.graph.planning.memory`.
"""

from bisect import bisect_left, insort

__all__ = ["pack"]

#: above this number of storages, the linear-time method is used
_MANY = 1000


def pack(events, sizes):
    """Place storages so that none with overlapping lifetimes overlap in memory.

    Parameters
    ----------
    events : list of (int, bool, int)
    sizes : list of int
        Sizes of the storages in bytes.

    Returns
    -------
    list of int
        Byte offset of each storage.
    int
        Size of the block in bytes.
    """
    return _in_order(events, sizes) if len(sizes) > _MANY else _by_size(events, sizes)


def _by_size(events, sizes):
    """Place the largest first, each in the smallest gap between simultaneously live ones."""
    first, last = [0] * len(sizes), [len(events)] * len(sizes)
    for moment, (storage, begins, _) in enumerate(events):
        (first if begins else last)[storage] = moment
    offsets, placed, total = [0] * len(sizes), [], 0
    for storage in sorted(range(len(sizes)), key=lambda number: -sizes[number]):
        begin, end, size = first[storage], last[storage], sizes[storage]
        best, tightest, free = None, None, 0  # free: start of the current gap
        for low, high, other_begin, other_end in placed:
            if other_begin < end and begin < other_end:
                gap = low - free
                if gap >= size and (tightest is None or gap < tightest):
                    best, tightest = free, gap
                free = max(free, high)
        offsets[storage] = free if best is None else best
        insort(placed, (offsets[storage], offsets[storage] + size, begin, end))
        total = max(total, offsets[storage] + size)
    return offsets, total


def _in_order(events, sizes):
    """Place in order of start, each in the smallest free range; adjacent ranges merge."""
    free = _FreeRanges()
    offsets, top = [0] * len(sizes), 0
    for storage, begins, _ in events:
        size = sizes[storage]
        if not begins:
            free.give(offsets[storage], size)
            continue
        offset = free.take(size)
        if offset is None:  # grow the block, extending a free range at its end
            offset = free.take_ending(top)
            offset = top if offset is None else offset
            top = offset + size
        offsets[storage] = offset
    return offsets, top


class _FreeRanges:
    """Free ranges of a block, indexed by size and end."""

    def __init__(self):
        self._sorted, self._size_at, self._begin_before = [], {}, {}

    def take(self, size):
        """Take `size` bytes from the smallest sufficient range; return the offset or None."""
        at = bisect_left(self._sorted, (size, -1))
        if at == len(self._sorted):
            return None
        available, begin = self._sorted[at]
        self._remove(begin, available)
        if available > size:
            self._add(begin + size, available - size)
        return begin

    def take_ending(self, end):
        """Take the range that ends there; return its offset or None."""
        begin = self._begin_before.get(end)
        if begin is not None:
            self._remove(begin, end - begin)
        return begin

    def give(self, begin, size):
        """Free a range."""
        before = self.take_ending(begin)
        if before is not None:
            begin, size = before, begin + size - before
        after = self._size_at.get(begin + size)
        if after is not None:
            self._remove(begin + size, after)
            size += after
        self._add(begin, size)

    def _add(self, begin, size):
        insort(self._sorted, (size, begin))
        self._size_at[begin] = size
        self._begin_before[begin + size] = begin

    def _remove(self, begin, size):
        del self._sorted[bisect_left(self._sorted, (size, begin))]
        del self._size_at[begin], self._begin_before[begin + size]
