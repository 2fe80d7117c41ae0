"""Ranks on a simulated clock: the collectives of `World`, with costs instead of communication.

An event simulation: `Clock` calls functions in the order of their times. Large arrays are one
element with stride 0, so that a thousand ranks fit into the memory of one.
"""

import heapq
import itertools

import numpy as np

from mxcy.dist.keys.reductions import AllReduce

__all__ = ["Clock", "ClockJob", "WeightlessAllReduce", "weightless"]

#: arrays up to this size have real memory, as they contain counts
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
        """Schedule a call, at `time` or now if that is over."""
        heapq.heappush(self._calls, (max(time, self.now), next(self._numbers), function))

    def run(self):
        """Call functions until none is scheduled."""
        while self._calls:
            self.now, _, function = heapq.heappop(self._calls)
            function()


def weightless(length, dtype):
    """An array of any length in the memory of one element."""
    return np.lib.stride_tricks.as_strided(np.zeros(1, dtype), (length,), (0,))


class WeightlessAllReduce(AllReduce):
    """All-reduce in buffers that take no memory if they are large."""

    def memory(self, length, dtype):
        if length * np.dtype(dtype).itemsize <= _REAL_BYTES:
            return super().memory(length, dtype)
        return weightless(length, dtype)


class ClockJob:
    """State shared by the ranks: a clock, and lanes that one all-reduce at a time uses.

    Parameters
    ----------
    clock : Clock
    links : Links

    Attributes
    ----------
    worlds : list of ClockWorld
    busy : dict
        Seconds of use by lane.
    hosts : list of int
        The host of each rank.
    """

    def __init__(self, clock, links):
        self.clock, self.links = clock, links
        self.busy, self._free = {}, {}
        self._meetings = {}
        self.hosts = [rank // links.per_host for rank in range(links.ranks)]
        self.worlds = [ClockWorld(self, rank) for rank in range(links.ranks)]

    def meet(self, name, rank, array, combine, stages):
        """Contribute an array to the collective of that name.

        Parameters
        ----------
        name : tuple
        rank : int
        array : numpy.ndarray
        combine : callable
            Computes the result from the arrays of all ranks.
        stages : list of Stage
            Costs of the collective.

        Returns
        -------
        Meeting
        """
        meeting = self._meetings.get(name)
        if meeting is None:
            meeting = self._meetings[name] = Meeting(self.links.ranks)
        meeting.inputs[rank] = array
        meeting.missing -= 1
        if not meeting.missing:
            del self._meetings[name]
            self._schedule(meeting, combine, stages)
        return meeting

    def _schedule(self, meeting, combine, stages):
        """All ranks have contributed: schedule the stages on their lanes, one after the other."""
        stages = list(stages)

        def advance():
            if not stages:
                self._end(meeting, combine)
                return
            stage = stages.pop(0)
            ready = self.clock.now + stage.latency
            end = max(ready, self._free.get(stage.lane, 0.0)) + stage.busy
            self._free[stage.lane] = end
            self.busy[stage.lane] = self.busy.get(stage.lane, 0.0) + stage.busy
            self.clock.at(end, advance)

        advance()

    def _end(self, meeting, combine):
        meeting.result, meeting.inputs = combine(meeting.inputs), None
        for world in self.worlds:
            self.clock.at(self.clock.now, world.wake)


class Meeting:
    """A collective: inputs by rank, and the result."""

    def __init__(self, size):
        self.inputs, self.missing, self.result = [None] * size, size, None


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
        self.hosts = job.hosts
        self.wake = lambda: None
        self._channels = 0

    def new_channel(self):
        """See `World.new_channel`."""
        self._channels += 1
        return _ClockChannel(self, self._channels)


class _ClockChannel:
    inside = between = areas = None
    most_values = 0

    def __init__(self, world, name):
        self._world, self._name, self._calls = world, name, 0
        self.copied = True  # whether arrays are copied to and from buffers

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
        return self._meet(source, target, lambda inputs: np.min(inputs, axis=0), stages)


def _total(inputs):
    """The sum; None for arrays without memory."""
    if inputs[0].nbytes > _REAL_BYTES:
        return None
    return np.sum(inputs, axis=0, dtype=inputs[0].dtype)


class _Request:
    def __init__(self, meeting, target):
        self._meeting, self._target = meeting, target

    def done(self):
        """Whether the collective has ended by now."""
        if self._meeting is None:
            return True
        if self._meeting.inputs is not None:
            return False
        if self._meeting.result is not None:
            np.copyto(self._target, self._meeting.result)
        self._meeting = None
        return True
