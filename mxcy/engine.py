"""`mx.engine`: bulk execution of small operations.

Operations of a program run in order as they are called, so a bulk changes no result; the size is
kept for programs that set it and ask for it again.
"""

import threading

__all__ = ["bulk", "set_bulk_size"]


class _State(threading.local):
    size = 0


_state = _State()


def set_bulk_size(size):
    """Set how many operations may run as one bulk on this thread; returns the previous size."""
    before, _state.size = _state.size, int(size)
    return before


class _BulkScope:
    def __init__(self, size):
        self._size = size
        self._before = []

    def __enter__(self):
        self._before.append(set_bulk_size(self._size))
        return self

    def __exit__(self, *error):
        set_bulk_size(self._before.pop())


def bulk(size):
    """A scope in which up to `size` operations may run as one bulk."""
    return _BulkScope(size)
