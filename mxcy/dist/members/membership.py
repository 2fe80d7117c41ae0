"""Rank and number of workers as the program sees them, in jobs that may shrink or grow."""

import threading

from mxcy import env

__all__ = ["Membership"]


class Membership:
    """Rank and number of workers, which change between two rounds of pushes.

    When workers die, the others agree on the last round with the old numbers; each program sees the
    new ones when it begins the next round.

    Parameters
    ----------
    progress : ProgressThread

    Attributes
    ----------
    rank, size : int
        As the program sees them.
    lock : threading.Lock
        Held where rounds begin and while ranks agree on a change.
    shrunk : bool
        Whether workers have died.
    factor : float
        Factor applied to sums (MXCY_ELASTIC_SCALE).
    most : int
        Number of workers at the start.
    last : int or None
        The last round with the old numbers, while the program uses these.
    """

    def __init__(self, progress):
        self._progress = progress
        self.rank, self.size = progress.world.rank, progress.world.size
        self.most = self.size
        self.lock = threading.RLock()
        self.factor = 1.0
        self.shrunk = False
        self.last = None
        self._listeners = []

    def on_change(self, function):
        """Call ``function(old, new)`` when the number of workers changes."""
        self._listeners.append(function)

    def note(self):
        """Agree on the last round with the old numbers; on the progress thread, with the lock."""
        world, self.shrunk = self._progress.world, True
        rounds = max((exchange.submitted() for exchange in self._progress.exchanges), default=0)
        self.last = max(world.allgather(rounds))
        self._scale()

    def _scale(self):
        if env.get("MXCY_ELASTIC_SCALE"):
            self.factor = self.most / self._progress.world.size

    def resize(self):
        """Adopt larger numbers between two rounds; on the progress thread, with the lock."""
        self.last = None
        self.rank, self.size = self._progress.world.rank, self._progress.world.size
        self._scale()

    def notify(self, before):
        """Call the listeners if the number of workers has changed."""
        if self.size != before:
            for function in self._listeners:
                function(before, self.size)

    def begin(self, rounds):
        """Adopt new numbers when a key's push number `rounds` is due for them."""
        if self.last is None or rounds < self.last:
            return
        with self.lock:
            world, before = self._progress.world, self.size
            self.last = None
            self.rank, self.size = world.rank, world.size
        self.notify(before)
