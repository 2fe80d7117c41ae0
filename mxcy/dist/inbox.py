"""Functions that other threads submit to the progress thread."""

from collections import deque

from mxcy.dist.auto_reset_event import AutoResetEvent

__all__ = ["Inbox"]


class Inbox:
    """Functions to be called, in order of submission.

    Attributes
    ----------
    wake : AutoResetEvent
        Set when there are some.
    add : callable
        Has a function called after the next wake. Where several are added before that, or the
        thread that adds them shares a core with the other one, that is faster than `submit`.
    """

    def __init__(self):
        self.wake = AutoResetEvent()
        self._functions = deque()
        self.add = self._functions.append

    def __bool__(self):
        return bool(self._functions)

    def submit(self, function):
        """Have a function called."""
        self._functions.append(function)
        self.wake.set()

    def read(self):
        """Call all functions; return whether there were any."""
        self.wake.clear()
        read = False
        while self._functions:
            self._functions.popleft()()
            read = True
        return read
