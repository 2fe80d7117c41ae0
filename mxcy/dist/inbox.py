"""Functions that other threads submit to the progress thread."""

import threading
from collections import deque

from mxcy.dist.auto_reset_event import AutoResetEvent

__all__ = ["Inbox"]


class Inbox:
    """Functions to be called, in order of submission.

    Attributes
    ----------
    wake : AutoResetEvent
        Set when there are some.
    """

    def __init__(self):
        self.wake = AutoResetEvent()
        self._functions = deque()
        self._gatherer = None  # the thread in the context

    def __bool__(self):
        return bool(self._functions)

    def submit(self, function):
        """Have a function called."""
        self._functions.append(function)
        if threading.get_ident() != self._gatherer:
            self.wake.set()

    def __enter__(self):
        """Have the other thread wake at the end of the context for all that this one submits in it.

        Where the two share a core, it would otherwise delay what is submitted later.
        """
        self._gatherer = threading.get_ident()

    def __exit__(self, *failure):
        self._gatherer = None
        if self._functions:
            self.wake.set()

    def read(self):
        """Call all functions; return whether there were any."""
        self.wake.clear()
        read = False
        while self._functions:
            self._functions.popleft()()
            read = True
        return read
