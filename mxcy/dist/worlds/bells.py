"""Waking of processes of one machine for messages."""

from mxcy._library.event import SharedEvent

__all__ = ["PAGE", "Bells"]

PAGE = 4096  # bytes at the start of the memory that a process shares, with its event


class Bells:
    """Events of this process and of others: that there may be messages for them.

    Parameters
    ----------
    readers : iterable of int
        Places of the other processes whose memory is mapped here.
    map_memory : callable
        See `SharedBlocks`.

    Attributes
    ----------
    own : SharedEvent
        Of this process.
    """

    def __init__(self, readers, map_memory):
        self.own = SharedEvent(map_memory(None, 0, PAGE))
        self._others = {place: SharedEvent(map_memory(place, 0, PAGE)) for place in readers}

    def ring(self, place):
        """Wake the process at a place, if it is on this machine."""
        event = self._others.get(place)
        if event is not None:
            event.set()

    def reach(self, places):
        """Whether the processes at all other places ring for their messages."""
        return len(self._others) == len(places) - 1
