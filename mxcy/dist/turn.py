"""The turn to advance communication, which one thread of a process has at a time."""

import threading
import time

__all__ = ["Turn"]

_PATIENCE = 2e-3  # seconds without progress in which a program's thread waits by polling
_GLIMPSE = 5e-5  # seconds between its looks whether the progress thread is at rest


class Turn:
    """The progress thread has it, except while it is at rest: then other threads may take it.

    To wake the progress thread, and to be woken by it, takes longer than most messages, and both
    threads would compete for the interpreter.

    Parameters
    ----------
    progress : ProgressThread

    Attributes
    ----------
    acquire, release : callable
        Those of its lock.
    """

    def __init__(self, progress):
        self._progress, lock = progress, threading.Lock()
        self.acquire, self.release = lock.acquire, lock.release

    def run_here(self, function):
        """Call a function on this thread as if on the progress thread, if that one is at rest.

        Parameters
        ----------
        function : callable
            Does not wait.

        Returns
        -------
        bool
            Whether it was called; otherwise it can be submitted.
        """
        progress = self._progress
        if progress.elastic or not self.acquire(blocking=False):
            return False
        try:
            if progress.inbox or progress.failed is not None:
                return False
            function()
        except BaseException as error:
            self._abort(error)
            raise
        finally:
            self.release()
        return True

    def attend(self, function, over):
        """Have a function called as if on the progress thread, and wait for an event.

        This thread advances communication meanwhile, as long as anything happens.

        Parameters
        ----------
        function : callable
        over : threading.Event
            Set when what the function has begun is done, or when communication fails.
        """
        progress = self._progress
        progress.inbox.add(function)
        if self._take(over):
            try:
                self._advance_until(over)
            except BaseException as error:
                self._abort(error)
                raise
            finally:
                self.release()
        if not over.is_set():
            progress.inbox.wake.set()
            over.wait()

    def _take(self, over):
        """Take the turn once the progress thread is at rest, unless `over` or that takes long."""
        progress, until = self._progress, time.monotonic() + _PATIENCE
        if progress.elastic or progress.polling.crowded:
            return False
        while not self.acquire(blocking=False):
            if over.wait(_GLIMPSE) or time.monotonic() > until:
                return False
        return True

    def _advance_until(self, over):
        """Advance communication until an event is set or nothing has happened for a while."""
        progress, now = self._progress, time.monotonic()
        until = now + _PATIENCE
        while now < until and not over.is_set():
            if progress.closing is not None or progress.failed is not None:
                return
            if progress.advance(progress.now())[0]:
                until = now + _PATIENCE
            now = time.monotonic()

    def _abort(self, error):
        """What an error of MPI or an interrupt leaves begun has no end."""
        progress = self._progress
        progress.abort(f"rank {progress.world.rank}: communication failed: {error!r}")
