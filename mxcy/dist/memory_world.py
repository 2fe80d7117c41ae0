"""The processes of a job as threads of one: the same interface as `World`, without MPI.

It is what a job of one process runs on, and what tests run the scheduler on with many ranks.
"""

import random
import threading
from collections import deque

import numpy as np

from mxcy.dist.collectives import parts
from mxcy.dist.machines import levels_of

__all__ = ["MemoryJob", "MemoryWorld"]


class MemoryJob:
    """What the ranks of a job share.

    Parameters
    ----------
    size : int
        How many ranks there are.
    seed : int, optional
        Requests are done later than they could be, by random numbers from this seed.
    servers : int
        How many processes there are beside the ranks.
    per_host : int, optional
        How many ranks share a machine; all of them by default.

    Attributes
    ----------
    worlds : list of MemoryWorld
        One per rank.
    servers : list of MemoryWorld
        One per server.
    """

    def __init__(self, size, seed=None, servers=0, per_host=None):
        self.size = size
        self.lock = threading.Lock()
        self._meetings = {}
        self.hosts = [f"memory{rank // per_host}" if per_host else "memory" for rank in range(size)]
        self.roles = ["worker"] * size + ["server"] * servers
        worlds = [MemoryWorld(self, place, seed) for place in range(size + servers)]
        self.worlds, self.servers = worlds[:size], worlds[size:]
        self.places = worlds

    def meet(self, name, rank, content, size=None):
        """Bring what a rank has to the collective call of that name."""
        with self.lock:
            meeting = self._meetings.setdefault(name, _Meeting(size or self.size))
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
    """One process's view of a `MemoryJob`; see `World`."""

    engine = "threads of one process"

    def __init__(self, job, place, seed=None):
        self.job, self.place, self.roles = job, place, job.roles
        self.machines = ["memory"] * len(job.roles)
        server = job.roles[place] == "server"
        self.rank = place - job.size if server else place
        self.size = len(job.roles) - job.size if server else job.size
        self.hosts = ["memory"] * self.size if server else list(job.hosts)
        self.processes = [["", 0]] * self.size
        self.levels = None if server else levels_of(self.rank, self.hosts)
        self.mailbox, self.letters = deque(), deque()
        self._draw = None if seed is None else random.Random(seed * 1009 + place)
        self._channels = 0
        self._control = _Channel(self, "control", self.rank, self.size)
        self._ends = 0

    def new_channel(self):
        """A channel of its own."""
        self._channels += 1
        channel = _Channel(self, self._channels, self.rank, self.size)
        if self.levels is not None:
            machine, number = self.levels
            machines = len(set(self.hosts))
            local = self.size // machines
            channel.inside = _Channel(self, (self._channels, "inside", machine), number, local)
            channel.between = _Channel(self, (self._channels, "between", number), machine, machines)
        return channel

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
        meeting = self.job.meet(("end", self._ends), self.place, None, len(self.roles))
        return self.request(meeting, lambda brought: None)

    def post(self, place, head, body=None):
        """Send a letter to a process of any role."""
        content = np.empty(0, np.uint8) if body is None else body.reshape(-1).view(np.uint8).copy()
        self.job.places[place].letters.append([self._delay(), (self.place, head, content)])
        return self.request(_Meeting(0), lambda brought: None)

    def receives(self):
        """Whether letters are on their way here."""
        return False

    def fetch(self):
        """A letter that has come, or None."""
        if not self.letters:
            return None
        if self.letters[0][0]:
            self.letters[0][0] -= 1
            return None
        return self.letters.popleft()[1]

    def finalize(self):
        """Nothing: threads need no leave."""

    def request(self, meeting, take):
        """A request that is done some time after all have come to a meeting."""
        return _Request(meeting, take, self._delay())

    def _delay(self):
        return self._draw.choice((0, 0, 1, 5, 40)) if self._draw else 0


class _Channel:
    inside = between = None

    def __init__(self, world, name, rank, size):
        self._world, self._name, self._calls = world, name, 0
        self.rank, self.size = rank, size

    def _meet(self, content, take):
        self._calls += 1
        world = self._world
        copied = None if content is None else np.array(content)
        name = self._name, self._calls
        return world.request(world.job.meet(name, self.rank, copied, self.size), take)

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

    def sum_parts(self, source, target, lengths):
        rank = self.rank

        def take(brought):
            total = np.sum(brought, axis=0, dtype=target.dtype)
            target[: lengths[rank]] = parts(total, lengths)[rank]

        return self._meet(source, take)

    def gather_parts(self, source, target, lengths):
        if source is None:
            source = parts(target, lengths)[self.rank]
        return self._meet(source, lambda brought: np.copyto(target, np.concatenate(brought)))

    def deal(self, source, sent, target, taken):
        rank = self.rank

        def take(brought):
            mine = [parts(content, lengths)[rank] for content, lengths in brought]
            np.copyto(target, np.concatenate(mine))

        self._calls += 1
        name, content = (self._name, self._calls), (np.array(source), sent)
        meeting = self._world.job.meet(name, rank, content, self.size)
        return self._world.request(meeting, take)

    def broadcast(self, array, root):
        source = array if self.rank == root else None
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
