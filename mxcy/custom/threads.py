"""Threads for custom operators, so that the engine's own remain free for operators they call."""

import os
import threading
from collections import deque

from mxcy._library import front

__all__ = ["Threads"]

_PATIENCE = 1.0  # seconds without progress before another thread is started
_MOST = 64


class Threads:
    """A thread pool that calls functions in order.

    It has as many threads as the engine has workers per CPU context, and more if these make no
    progress: operators may wait for others.
    """

    def __init__(self):
        self._lock = threading.Lock()
        self._come = threading.Semaphore(0)
        self._jobs: deque = deque()
        self._idle = self._count = self._started = 0
        self._mine = threading.local()
        os.register_at_fork(after_in_child=self._forget)

    def submit(self, job):
        """Submit a function without arguments, which must not raise."""
        if getattr(self._mine, "serves", False):  # waiting for another thread could deadlock
            job()
            return
        with self._lock:
            self._jobs.append(job)
            waiting = len(self._jobs) > self._idle
            grow = waiting and self._count < front.engine_stats()["workers"]
            seen = self._started
        self._come.release()
        if grow:
            self._grow()
        elif waiting:
            self._watch(seen)

    def _grow(self):
        with self._lock:
            self._count += 1
            name = f"mxcy-custom-{self._count}"
        threading.Thread(target=self._serve, name=name, daemon=True).start()

    def _watch(self, seen):
        """Check after a delay whether more than `seen` jobs have been started."""
        timer = threading.Timer(_PATIENCE, self._relieve, (seen,))
        timer.daemon = True
        timer.start()

    def _relieve(self, seen):
        """Start another thread if jobs are waiting and none was started recently."""
        with self._lock:
            waiting, now, full = bool(self._jobs), self._started, self._count >= _MOST
        if waiting and now == seen and not full:
            self._grow()
        elif waiting:
            self._watch(now)

    def _serve(self):
        self._mine.serves = True
        while True:
            with self._lock:
                self._idle += 1
            self._come.acquire()
            with self._lock:
                self._idle -= 1
                self._started += 1
                job = self._jobs.popleft()
            job()
            del job  # releases its arrays

    def _forget(self):
        """Reset in a forked child, which has none of these threads.

        The engine has finished its operations before the fork, so no job is pending.
        """
        self._lock, self._come = threading.Lock(), threading.Semaphore(0)
        self._idle = self._count = 0
        self._jobs.clear()
