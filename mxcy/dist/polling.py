"""When the progress thread looks again for what is under way."""

import os
import time

__all__ = ["Polling"]

_NAP, _SLEEP = 50e-6, 0.02  # seconds between looks: something is under way, or nothing is
#: naps become longer by this part of the time for which nothing has moved, up to so many seconds
_SLOWER, _LONGEST_NAP = 0.05, 5e-4
#: seconds in which sums are looked for without naps: any of them, and what each byte adds
_EAGER, _EAGER_PER_BYTE = 1e-3, 1e-9
#: seconds without the core between two looks that tell of others, and those of naps only after that
_HELD_UP, _MODEST = 1e-3, 0.2
_GLANCES = 32  # at sums alone, between looks at everything


class Polling:
    """Looks again at once while sums go on, after naps while other processes are waited for.

    A sum goes on only where both sides look for it, so that naps would be most of its time. Where
    somebody else needs the core (more processes than cores, or threads that compute), naps are
    better: who sleeps is preferred when it wakes up, and who looks all the time waits for its turn.
    The longer nothing moves, the longer they are: a look costs as much as a short one, and other
    threads of this process may compute meanwhile.

    Parameters
    ----------
    world : World
    wake : threading.Event
        Set when there is something to do.
    glance : callable
        Looks for sums alone, and tells whether one is done: large ones go in many pieces, each of
        which waits for a look.
    """

    def __init__(self, world, wake, glance):
        self.count(world)
        self._wake, self._glance = wake, glance
        self._eager_until = self._modest_until = 0.0
        self._looked = self._computed = 0.0  # at the last look: the time, and that of this thread
        self._still_since = None  # when looks began to find that nothing has moved

    def count(self, world):
        """See how many processes share the machine."""
        here = world.hosts.count(world.hosts[world.rank])
        self._crowded = here > (os.cpu_count() or 1)

    def expect(self, now, length):
        """A sum of that many bytes has been started; on the thread that looks."""
        if self._crowded or now < self._modest_until:
            return
        until = now + _EAGER + length * _EAGER_PER_BYTE
        self._eager_until = max(self._eager_until, until)
        self._looked, self._computed = now, time.thread_time()

    def note_moves(self):
        """Something has moved in the last look."""
        self._still_since = None

    def rest(self, now, busy):
        """Wait before the next look, when nothing has moved in the last one."""
        if self._still_since is None:
            self._still_since = now
        if not busy:
            self._wake.wait(_SLEEP)
        elif now >= self._eager_until:
            time.sleep(min(_NAP + _SLOWER * (now - self._still_since), _LONGEST_NAP))
        else:
            for _ in range(_GLANCES):
                if self._wake.is_set() or self._glance():
                    break
            self._notice_others(now)

    def _notice_others(self, now):
        computed = time.thread_time()
        held_up = now - self._looked - (computed - self._computed)
        self._looked, self._computed = now, computed
        if held_up > _HELD_UP:
            self._modest_until, self._eager_until = now + _MODEST, 0.0
