"""When the progress thread looks again for what is under way."""

import os
import resource
import time

__all__ = ["Polling"]

_NAP, _SLEEP = 50e-6, 0.02  # seconds between looks: something is under way, or nothing is
#: seconds in which sums are looked for without naps: any of them, and what each byte adds
_EAGER, _EAGER_PER_BYTE = 1e-3, 1e-9
_MODEST = 0.2  # seconds of naps only, once somebody else needed the core


class Polling:
    """Looks again at once while sums go on, after naps while other processes are waited for.

    A sum goes on only where both sides look for it, so that naps would be most of its time. Where
    somebody else needs the core (more processes than cores, or threads that compute), naps are
    better: who sleeps is preferred when it wakes up, and who looks all the time waits for its turn.

    Parameters
    ----------
    world : World
    wake : threading.Event
        Set when there is something to do.
    """

    def __init__(self, world, wake):
        here = world.hosts.count(world.hosts[world.rank])
        self._crowded = here > (os.cpu_count() or 1)
        self._wake = wake
        self._eager_until = self._modest_until = 0.0
        self._evictions = 0

    def expect(self, now, length):
        """A sum of so many bytes has been started; on the thread that looks."""
        evictions = _evictions()
        if evictions > self._evictions:
            self._evictions, self._modest_until = evictions, now + _MODEST
        if self._crowded or now < self._modest_until:
            self._eager_until = 0.0
            return
        until = now + _EAGER + length * _EAGER_PER_BYTE
        self._eager_until = max(self._eager_until, until)

    def rest(self, now, busy):
        """Wait before the next look, when nothing has moved in the last one."""
        if not busy:
            self._wake.wait(_SLEEP)
        elif now >= self._eager_until:
            time.sleep(_NAP)


def _evictions():
    """How often this thread has lost its core to another; 0 where nobody counts that."""
    whose = getattr(resource, "RUSAGE_THREAD", None)
    return 0 if whose is None else resource.getrusage(whose).ru_nivcsw
