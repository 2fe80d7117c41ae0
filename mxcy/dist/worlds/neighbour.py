"""The process before this one in a ring of all: whether it is still there."""

import os
import select
import signal

__all__ = ["Neighbour", "identity"]

_LOOK_SECONDS = 0.05  # between looks for its end
_BEATS = 4  # signs of life within the time after which it counts as dead


def identity():
    """What tells this process from others: where process numbers are its, and its number."""
    try:
        return [os.readlink("/proc/self/ns/pid"), os.getpid()]
    except OSError:
        return ["", os.getpid()]


class Neighbour:
    """Watches one process, so that the cost does not grow with the job; each is watched by one.

    Parameters
    ----------
    world : World
    tell : callable
        ``tell(rank)`` gives a sign of life to a process.
    interval, timeout : float
        Seconds between signs of life, and seconds without any after which the process counts as
        dead; 0: never. With an interval of 0 there are four within the timeout.

    Attributes
    ----------
    rank : int
        Which process it is.
    """

    def __init__(self, world, tell, interval=0, timeout=0):
        self.rank, self._next = (world.rank - 1) % world.size, (world.rank + 1) % world.size
        self._tell, self._timeout = tell, timeout
        self._interval = interval or timeout / _BEATS
        self._heard = self._beaten = self._looked = 0.0
        self._stepped = None
        self._poll = self._process = None
        if world.size > 1:
            self._watch(world)
        else:
            self._timeout = 0

    def _watch(self, world):
        own, its = world.processes[world.rank], world.processes[self.rank]
        same = world.hosts[world.rank] == world.hosts[self.rank] and own[0] == its[0] != ""
        if not same or own == its or not hasattr(os, "pidfd_open"):
            return
        try:
            self._process = os.pidfd_open(its[1])
        except OSError:  # of another user, or an old system: the process manager notices
            return
        self._poll = select.poll()
        self._poll.register(self._process, select.POLLIN)

    def close(self):
        """Watch no more."""
        if self._process is not None:
            os.close(self._process)
        self._poll = self._process = None
        self._timeout = 0

    def kill(self):
        """Have it end, if it is on this machine; whether it is."""
        if self._process is None:
            return False
        signal.pidfd_send_signal(self._process, signal.SIGKILL)
        return True

    def hear(self, now):
        """Take a sign of life."""
        self._heard = now

    def step(self, now):
        """Look after it.

        Returns
        -------
        str or None
            What has happened to it.
        """
        stood_still = self._stepped is not None and now - self._stepped > self._timeout / 2
        self._stepped = now
        if self._poll is not None and now - self._looked >= _LOOK_SECONDS:
            self._looked = now
            if self._poll.poll(0):
                return "died"
        if not self._timeout:
            return None
        if now - self._beaten >= self._interval:
            self._beaten = now
            self._tell(self._next)
        if not self._heard or stood_still:  # this process, not that one
            self._heard = now
        if now - self._heard > self._timeout:
            return f"has given no sign of life for {self._timeout:g} seconds (PS_HEARTBEAT_TIMEOUT)"
        return None
