"""The processes of a job as threads of one: the same interface as `World`, without MPI.

It is what a job of one process runs on, and what tests run the scheduler on with many ranks.
"""

import random
import threading
from collections import deque

import numpy as np

from mxcy.dist.collectives import parts

__all__ = ["MemoryJob", "MemoryWorld"]


class MemoryJob:
    """What the ranks of a job share.

    Parameters
    ----------
    size : int
        How many ranks there are.
    seed : int, optional
        Requests are done later than they could be, by random numbers from this seed.

    Attributes
    ----------
    worlds : list of MemoryWorld
        One per rank.
    """

    def __init__(self, size, seed=None):
        self.size = size
        self.lock = threading.Lock()
        self._meetings = {}
        self.worlds = [MemoryWorld(self, rank, seed) for rank in range(size)]

    def meet(self, name, rank, content):
        """Bring what a rank has to the collective call of that name."""
        with self.lock:
            meeting = self._meetings.setdefault(name, _Meeting(self.size))
            meeting.brought[rank] = content
            meeting.missing -= 1
            if not meeting.missing:
                del self._meetings[name]
        return meeting


class _Meeting:
    def __init__(self, size):
        self.brought = [None] * size
        self.missing = size


class MemoryWorld:
    """One rank's view of a `MemoryJob`; see `World`."""

    engine = "threads of one process"

    def __init__(self, job, rank, seed=None):
        self.job, self.rank, self.size = job, rank, job.size
        self.hosts = ["memory"] * job.size
        self.roles = ["worker"] * job.size
        self.mailbox = deque()
        self._draw = None if seed is None else random.Random(seed * 1009 + rank)
        self._channels = 0
        self._control = _Channel(self, "control")
        self._ends = 0

    def new_channel(self):
        """A channel of its own."""
        self._channels += 1
        return _Channel(self, self._channels)

    def control(self):
        """The channel for agreements."""
        return self._control

    def send(self, rank, content):
        """Send bytes to a rank."""
        self.job.worlds[rank].mailbox.append((self.rank, content))

    def receive(self):
        """A message that has come, or None."""
        return self.mailbox.popleft() if self.mailbox else None

    def everybody(self):
        """A request that is done when all ranks have made it."""
        self._ends += 1
        return self.request(self.job.meet(("end", self._ends), self.rank, None), lambda brought: None)

    def finalize(self):
        """Nothing: threads need no leave."""

    def request(self, meeting, take):
        """A request that is done some time after all have come to a meeting."""
        return _Request(meeting, take, self._draw.choice((0, 0, 1, 5, 40)) if self._draw else 0)


class _Channel:
    def __init__(self, world, name):
        self._world, self._name, self._calls = world, name, 0

    def _meet(self, content, take):
        self._calls += 1
        world = self._world
        copied = None if content is None else np.array(content)
        return world.request(world.job.meet((self._name, self._calls), world.rank, copied), take)

    def sum(self, source, target):
        def take(brought):
            target[...] = brought[0]
            for part in brought[1:]:
                np.add(target, part, out=target)

        return self._meet(source, take)

    def least(self, source, target):
        return self._meet(source, lambda brought: np.copyto(target, np.min(brought, axis=0)))

    def gather(self, source, target):
        return self._meet(
            source, lambda brought: np.copyto(target.reshape(len(brought), -1), np.stack(brought))
        )

    def gather_parts(self, source, target, lengths):
        return self._meet(source, lambda brought: np.copyto(target, np.concatenate(brought)))

    def deal(self, source, sent, target, taken):
        rank = self._world.rank

        def take(brought):
            mine = [parts(content, lengths)[rank] for content, lengths in brought]
            np.copyto(target, np.concatenate(mine))

        self._calls += 1
        meeting = self._world.job.meet((self._name, self._calls), rank, (np.array(source), sent))
        return self._world.request(meeting, take)

    def broadcast(self, array, root):
        source = array if self._world.rank == root else None
        return self._meet(source, lambda brought: np.copyto(array, brought[root]))


class _Request:
    def __init__(self, meeting, take, delay):
        self._meeting, self._take, self._delay = meeting, take, delay

    def done(self):
        if self._meeting is None:
            return True
        if self._meeting.missing:
            return False
        if self._delay:
            self._delay -= 1
            return False
        self._take(self._meeting.brought)
        self._meeting = None
        return True
