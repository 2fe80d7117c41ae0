"""A cache of limited size that keeps what is used."""

import collections
import contextlib
from collections.abc import Hashable
from typing import Any

__all__ = ["LastUsed"]


class LastUsed:
    """At most so many entries; a new one displaces that which nobody asked for longest.

    Parameters
    ----------
    most : int
        How many entries are kept.
    """

    __slots__ = ("_entries", "_last", "most")

    def __init__(self, most: int) -> None:
        self.most = most
        self._entries: collections.OrderedDict[Hashable, Any] = collections.OrderedDict()
        # The entry that was used last: mostly the one that is requested.
        self._last: Any = None

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Hashable) -> Any:
        """The entry of a key, or None."""
        entry = self._entries.get(key)
        if entry is not None and entry is not self._last:
            with contextlib.suppress(KeyError):  # another thread may displace it meanwhile
                self._entries.move_to_end(key)
                self._last = entry
        return entry

    def put(self, key: Hashable, entry: Any) -> Any:
        """Enter something, and return it."""
        self._entries[key] = self._last = entry
        with contextlib.suppress(KeyError):
            while len(self._entries) > self.most:
                self._entries.popitem(last=False)
        return entry

    def used_last(self, entry: Any) -> bool:
        """Whether an entry is the one that was entered or asked for last."""
        return entry is self._last

    def values(self) -> list[Any]:
        """The entries, from the one used longest ago to the one used last."""
        return list(self._entries.values())
