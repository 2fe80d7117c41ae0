"""An event for one waiting thread."""

import threading

__all__ = ["AutoResetEvent"]


class AutoResetEvent:
    """Like `threading.Event`, at a fraction of its cost; a wait that sees it set clears it."""

    def __init__(self):
        self._unset = threading.Lock()
        self._unset.acquire()

    def set(self):
        """Wake the waiting thread, or the next one to wait."""
        try:
            self._unset.release()
        except RuntimeError:  # it is set already
            return

    def is_set(self):
        """Whether it is set."""
        return not self._unset.locked()

    def clear(self):
        """Clear it."""
        self._unset.acquire(blocking=False)

    def wait(self, seconds):
        """Wait until it is set, at most so long, and clear it.

        Parameters
        ----------
        seconds : float

        Returns
        -------
        bool
            Whether it was set.
        """
        return self._unset.acquire(timeout=seconds)
