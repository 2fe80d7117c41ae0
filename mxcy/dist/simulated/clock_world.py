"""Ranks on a clock: the interface of `World` for what sums need, with costs instead of waiting.

Nothing here runs in parallel: `Clock` calls functions in the order of their times. Large arrays are
one element seen many times, so that a thousand ranks fit into the memory of one.
"""

import heapq
import itertools

import numpy as np

from mxcy.dist.keys.sums import WholeSum

__all__ = ["Clock", "ClockJob", "WeightlessSum", "weightless"]

#: arrays up to so many bytes are real ones, with counts in them
_REAL_BYTES = 65536 * 2


class Clock:
    """Calls functions at their times.

    Attributes
    ----------
    now : float
        Seconds.
    """

    def __init__(self):
        self.now = 0.0
        self._calls, self._numbers = [], itertools.count()

    def at(self, time, function):
        """Have a function called at a time that is not over."""
        heapq.heappush(self._calls, (max(time, self.now), next(self._numbers), function))

    def run(self):
        """Call functions until there is none."""
        while self._calls:
            self.now, _, function = heapq.heappop(self._calls)
            function()


def weightless(length, dtype):
    """An array of any length that takes the memory of one element."""
    return np.lib.stride_tricks.as_strided(np.zeros(1, dtype), (length,), (0,))


class WeightlessSum(WholeSum):
    """Sums in buffers that take no memory if they are large."""

    def memory(self, length, dtype):
        if length * np.dtype(dtype).itemsize <= _REAL_BYTES:
            return super().memory(length, dtype)
        return weightless(length, dtype)


class ClockJob:
    """What the ranks share: a clock, and lanes that one sum at a time uses.

    Parameters
    ----------
    clock : Clock
    links : Links

    Attributes
    ----------
    worlds : list of ClockWorld
    busy : dict
        Seconds in which each lane was in use.
    """

    def __init__(self, clock, links):
        self.clock, self.links = clock, links
        self.busy, self._free = {}, {}
        self._meetings = {}
        self.worlds = [ClockWorld(self, rank) for rank in range(links.ranks)]

    def meet(self, name, rank, array, combine, stages):
        """Bring an array to the collective call of that name.

        Parameters
        ----------
        name : tuple
        rank : int
        array : numpy.ndarray
        combine : callable
            Makes the result of all arrays.
        stages : list of Stage
            What the call costs.

        Returns
        -------
        Meeting
        """
        meeting = self._meetings.get(name)
        if meeting is None:
            meeting = self._meetings[name] = Meeting(self.links.ranks)
        meeting.brought[rank] = array
        meeting.missing -= 1
        if not meeting.missing:
            del self._meetings[name]
            self._travel(meeting, combine, stages)
        return meeting

    def _travel(self, meeting, combine, stages):
        """All have come: find a time on each lane after the other."""
        stages = list(stages)

        def go_on():
            if not stages:
                self._end(meeting, combine)
                return
            stage = stages.pop(0)
            ready = self.clock.now + stage.latency
            end = max(ready, self._free.get(stage.lane, 0.0)) + stage.busy
            self._free[stage.lane] = end
            self.busy[stage.lane] = self.busy.get(stage.lane, 0.0) + stage.busy
            self.clock.at(end, go_on)

        go_on()

    def _end(self, meeting, combine):
        meeting.result, meeting.brought = combine(meeting.brought), None
        for world in self.worlds:
            self.clock.at(self.clock.now, world.wake)


class Meeting:
    """A collective call, and what it results in."""

    def __init__(self, size):
        self.brought, self.missing, self.result = [None] * size, size, None


class ClockWorld:
    """One rank's view of a `ClockJob`; see `World`.

    Attributes
    ----------
    wake : callable
        Called when a request of this rank is done.
    """

    engine = "a clock"
    levels = None

    def __init__(self, job, rank):
        self.job, self.rank, self.size = job, rank, job.links.ranks
        self.wake = lambda: None
        self._channels = 0

    def new_channel(self):
        """A channel of its own."""
        self._channels += 1
        return _ClockChannel(self, self._channels)


class _ClockChannel:
    inside = between = None

    def __init__(self, world, name):
        self._world, self._name, self._calls = world, name, 0
        self.copied = True  # whether arrays travel by way of buffers

    def _meet(self, source, target, combine, stages):
        self._calls += 1
        name = self._name, self._calls
        world = self._world
        return _Request(world.job.meet(name, world.rank, source, combine, stages), target)

    def all_reduce(self, source, target):
        stages = self._world.job.links.stages(source.nbytes, self.copied)
        return self._meet(source, target, _total, stages)

    def all_reduce_min(self, source, target):
        stages = self._world.job.links.stages(source.nbytes)
        return self._meet(source, target, lambda brought: np.min(brought, axis=0), stages)


def _total(brought):
    """The sum; that of arrays without memory is one of them."""
    if brought[0].nbytes > _REAL_BYTES:
        return None
    return np.sum(brought, axis=0, dtype=brought[0].dtype)


class _Request:
    def __init__(self, meeting, target):
        self._meeting, self._target = meeting, target

    def done(self):
        """Whether the call has ended by now."""
        if self._meeting is None:
            return True
        if self._meeting.brought is not None:
            return False
        if self._meeting.result is not None:
            np.copyto(self._target, self._meeting.result)
        self._meeting = None
        return True
