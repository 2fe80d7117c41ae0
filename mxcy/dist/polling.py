"""How long the progress thread waits before it polls again."""

import ctypes
import itertools
import os
import sys
import time

__all__ = ["Polling", "sleep_precisely"]

_PR_SET_TIMERSLACK = 29  # of Linux, in nanoseconds

_NAP, _SLEEP = 50e-6, 0.02  # seconds between polls with work in flight, and without any
#: naps grow by this share of the time since the last progress, up to this many seconds: in general,
#: and if only sums are awaited while other threads of this process are idle, or compute
_GROWTH, _IDLE, _COMPUTING = (0.1, 2e-3), (0.02, 2e-3), (0.4, 4e-3)
#: polls after a nap, while each of them takes so many seconds: it has read or written a socket
_MOST_POLLS, _MOVING = 16, 6e-6
#: seconds of polling without naps after a collective starts: fixed, and per byte
_EAGER, _EAGER_PER_BYTE = 1e-3, 1e-9
#: seconds off the core between two polls that reveal contention, and how long naps follow it
_HELD_UP, _MODEST = 1e-3, 0.2
_GLANCES = 32  # polls of collectives alone, between full steps
_STEP_INTERVAL = 1e-2  # seconds between full steps that only collectives need


def sleep_precisely():
    """Have this thread's sleeps last 20 us longer than they should, instead of 70."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0)


class Polling:
    """Polls without pause while a collective is progressing, and naps between polls otherwise.

    MPI makes progress only while it is polled on all ranks, so naps would dominate a collective's
    time. Where others need the core (more processes than cores, or computing threads), naps are
    better: the scheduler prefers threads that wake up to those that spin. Naps grow the longer
    nothing progresses, most of all while other threads of this process compute, which each poll
    delays; what a network has delivered during one is read at once. Several naps pass between full
    steps of the thread, which take longer than many polls, if only sums are awaited.

    Parameters
    ----------
    world : World
    wake : AutoResetEvent
        Set when the thread has something to do.
    turn : Turn
        Held by the thread except while nothing is in flight.
    in_flight : callable
        ``in_flight()`` returns functions, one for each collective in flight, that poll it and
        return whether it is done. MPI sends large arrays in many pieces, each of which needs a
        poll, of any collective.

    Attributes
    ----------
    crowded : bool
        Whether the machine has more workers than cores.
    """

    def __init__(self, world, wake, turn, in_flight):
        self.count(world)
        self._wake, self._turn, self._in_flight = wake, turn, in_flight
        self._eager_until = self._modest_until = 0.0
        self._looked = self._computed = 0.0  # at the last poll: wall and CPU time
        self._still_since = None  # when polls stopped finding progress
        self._napped = self._others = 0.0  # at the last nap: time, and CPU time of other threads

    def count(self, world):
        """Find out whether the machine has more workers than cores."""
        here = world.hosts.count(world.hosts[world.rank])
        self.crowded = here > (os.cpu_count() or 1)

    def expect(self, now, length):
        """Poll eagerly for a collective of `length` bytes that has just started."""
        if self.crowded or now < self._modest_until:
            return
        until = now + _EAGER + length * _EAGER_PER_BYTE
        self._eager_until = max(self._eager_until, until)
        self._looked, self._computed = now, time.thread_time()

    def note_moves(self):
        """The last poll found progress."""
        self._still_since = None

    def rest(self, now, sums, others):
        """Wait before the next full step, after one without progress.

        Parameters
        ----------
        now : float
        sums, others : bool
            Whether sums or anything else is unfinished.
        """
        if self._still_since is None:
            self._still_since = now
        if not sums and not others:
            self._turn.release()
            self._wake.wait(_SLEEP)
            self._turn.acquire()
        elif now >= self._eager_until:
            until = now + (0 if others else _STEP_INTERVAL)
            while not self._nap(now, others) and now < until:
                now = time.monotonic()
        else:
            polls = self._in_flight()
            for _ in range(_GLANCES):
                if self._wake.is_set() or any(poll() for poll in polls):
                    break
            self._notice_others(now)

    def _nap(self, now, others):
        """Nap, and read what has come meanwhile; return whether there is something to do."""
        computing, polls = self._others_compute(now), self._in_flight()
        share, longest = _COMPUTING if computing else _IDLE
        if others or self.crowded:
            share, longest = _GROWTH
        nap = _NAP + share * (now - self._still_since)
        if self._wake.wait(min(nap, longest)) or not polls:
            return True
        for poll in itertools.islice(itertools.cycle(polls), _MOST_POLLS):
            began = time.perf_counter()
            if self._wake.is_set() or poll():
                return True
            if time.perf_counter() - began < _MOVING:
                break
        return False

    def _others_compute(self, now):
        """Whether other threads of this process have computed since the last nap."""
        before, since = self._others, now - self._napped
        self._napped, self._others = now, time.process_time() - time.thread_time()
        return self._others - before > since / 2

    def _notice_others(self, now):
        computed = time.thread_time()
        held_up = now - self._looked - (computed - self._computed)
        self._looked, self._computed = now, computed
        if held_up > _HELD_UP:
            self._modest_until, self._eager_until = now + _MODEST, 0.0
