"""A least-recently-used cache."""

import collections
import contextlib
from collections.abc import Hashable
from typing import Any

__all__ = ["LRUCache"]


class LRUCache:
    """A mapping of limited size that evicts the least recently used entry.

    Parameters
    ----------
    capacity : int
        The maximum number of entries.
    """

    __slots__ = ("_entries", "_last", "capacity")

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._entries: collections.OrderedDict[Hashable, Any] = collections.OrderedDict()
        # The most recently used entry, which is usually the one requested.
        self._last: Any = None

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Hashable) -> Any:
        """Return the entry of a key, or None, and mark it as used."""
        entry = self._entries.get(key)
        if entry is not None and entry is not self._last:
            with contextlib.suppress(KeyError):  # another thread may have evicted it
                self._entries.move_to_end(key)
                self._last = entry
        return entry

    def put(self, key: Hashable, entry: Any) -> Any:
        """Store an entry and return it."""
        self._entries[key] = self._last = entry
        with contextlib.suppress(KeyError):
            while len(self._entries) > self.capacity:
                self._entries.popitem(last=False)
        return entry

    def is_newest(self, entry: Any) -> bool:
        """Whether an entry is the most recently used one."""
        return entry is self._last

    def values(self) -> list[Any]:
        """The entries, least recently used first."""
        return list(self._entries.values())
