"""Failure detection in a ring: each rank watches the one before it."""

import os
import select
import signal

__all__ = ["Neighbour", "identity"]

_LOOK_SECONDS = 0.05  # between checks whether the process has ended
_BEATS = 4  # heartbeats within the timeout


def identity():
    """[PID namespace, process number] of this process."""
    try:
        return [os.readlink("/proc/self/ns/pid"), os.getpid()]
    except OSError:
        return ["", os.getpid()]


class Neighbour:
    """Watches the previous rank of the ring, at a cost independent of the number of ranks.

    Parameters
    ----------
    world : World
    send_heartbeat : callable
        ``send_heartbeat(rank)`` sends a heartbeat to a rank.
    interval, timeout : float
        Seconds between heartbeats, and seconds without one after which the rank counts as dead
        (0: never). An interval of 0 is a quarter of the timeout.

    Attributes
    ----------
    rank : int
        The rank that is watched.
    """

    def __init__(self, world, send_heartbeat, interval=0, timeout=0):
        self.rank, self._next = (world.rank - 1) % world.size, (world.rank + 1) % world.size
        self._send_heartbeat, self._timeout = send_heartbeat, timeout
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
        except OSError:  # another user's, or an old kernel: left to the process manager
            return
        self._poll = select.poll()
        self._poll.register(self._process, select.POLLIN)

    def close(self):
        """Stop watching."""
        if self._process is not None:
            os.close(self._process)
        self._poll = self._process = None
        self._timeout = 0

    def kill(self):
        """Kill the process if it is on this machine; return whether it is."""
        if self._process is None:
            return False
        signal.pidfd_send_signal(self._process, signal.SIGKILL)
        return True

    def note_heartbeat(self, now):
        """Note a heartbeat of the watched rank."""
        self._heard = now

    def step(self, now):
        """Send a heartbeat and check the watched rank, each when due.

        Returns
        -------
        str or None
            How the watched rank failed.
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
            self._send_heartbeat(self._next)
        if not self._heard or stood_still:  # this process was stopped, not the other
            self._heard = now
        if now - self._heard > self._timeout:
            return f"has given no sign of life for {self._timeout:g} seconds (PS_HEARTBEAT_TIMEOUT)"
        return None
