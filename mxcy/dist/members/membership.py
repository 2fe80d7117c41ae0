"""What the program sees of the processes of its job, which may become fewer."""

import threading

from mxcy import env

__all__ = ["Membership"]


class Membership:
    """The rank and the number of workers, which change between two rounds of pushes.

    When processes die, the others agree on the round that is the last with the former numbers: the
    program of each sees the new ones when it begins the next.

    Parameters
    ----------
    progress : ProgressThread

    Attributes
    ----------
    rank, size : int
        As the program sees them.
    lock : threading.Lock
        Held where rounds begin, and while processes agree.
    shrunk : bool
        Whether processes have died.
    factor : float
        What sums are multiplied by (MXCY_ELASTIC_SCALE).
    most : int
        How many processes there were at first.
    """

    def __init__(self, progress):
        self._progress = progress
        self.rank, self.size = progress.world.rank, progress.world.size
        self.most = self.size
        self.lock = threading.RLock()
        self.factor = 1.0
        self.shrunk = False
        self._last = None  # the last round with the former numbers
        self._listeners = []

    def on_change(self, function):
        """Have ``function(old, new)``, of numbers of workers, called when they change."""
        self._listeners.append(function)

    def note(self):
        """Processes have died; on the progress thread, with the lock."""
        world, self.shrunk = self._progress.world, True
        rounds = max((one.submitted() for one in self._progress.exchanges), default=0)
        self._last = max(world.allgather(rounds))
        self._scale()

    def _scale(self):
        if env.get("MXCY_ELASTIC_SCALE"):
            self.factor = self.most / self._progress.world.size

    def resize(self):
        """Processes have joined; on the progress thread, with the lock, between two rounds."""
        self._last = None
        self.rank, self.size = self._progress.world.rank, self._progress.world.size
        self._scale()

    def tell(self, before):
        """Call those who want to know of a change, if there is one."""
        if self.size != before:
            for function in self._listeners:
                function(before, self.size)

    def begin(self, rounds):
        """The program begins a push of a key that it has pushed so often before."""
        if self._last is None or rounds < self._last:
            return
        with self.lock:
            world, before = self._progress.world, self.size
            self._last = None
            self.rank, self.size = world.rank, world.size
        self.tell(before)
