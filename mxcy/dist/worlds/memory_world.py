"""Ranks as threads of one process: the interface of `World` without MPI.

Jobs of one process run on it, and tests run everything else on it with many ranks.
"""

import random
import threading
import time
from collections import deque

import numpy as np

from mxcy.dist.worlds.collectives import parts
from mxcy.dist.worlds.machines import levels_of
from mxcy.dist.worlds.shared_blocks import SharedBlock, SharedBlocks

__all__ = ["MemoryJob", "MemoryWorld"]


class _RankDied(Exception):
    """A rank has died, so collectives with it will not complete."""


class MemoryJob:
    """State shared by the ranks of a job.

    Parameters
    ----------
    size : int
        Number of ranks.
    seed : int, optional
        Seed of random delays of requests and messages; None: no delays.
    servers : int
        Number of server processes, in addition to the ranks.
    per_host : int, optional
        Number of ranks that share a machine; all by default.
    area : int, optional
        Bytes per rank and channel of memory that all ranks share; None: there is none, and no
        blocks for messages either.

    Attributes
    ----------
    worlds : list of MemoryWorld
        One per rank.
    start : callable
        ``start(*args)``, set by tests that add ranks: runs a new rank with the world that
        ``join(*args)`` returns.
    servers : list of MemoryWorld
        One per server.
    """

    def __init__(self, size, seed=None, servers=0, per_host=None, area=None):
        self.size, self._area, self._areas = size, area, {}
        self.lock = threading.Condition()
        self.dead = set()  # places
        self._meetings = {}
        self.seed, self.start = seed, None
        self.hosts = [f"memory{rank // per_host}" if per_host else "memory" for rank in range(size)]
        self.roles = ["worker"] * size + ["server"] * servers
        self.places = [MemoryWorld(self, place, seed) for place in range(size + servers)]
        self.worlds, self.servers = self.places[:size], self.places[size:]

    def meet(self, name, rank, content, size=None):
        """Contribute a rank's input to the collective of that name."""
        with self.lock:
            meeting = self._meetings.setdefault(name, _Meeting(size or self.size))
            meeting.inputs[rank] = content
            meeting.missing -= 1
            if not meeting.missing:
                del self._meetings[name]
        return meeting

    def areas(self, name, size, length=None):
        """The areas of a channel by rank, or None; with a length, memory for its values."""
        if self._area is None or size == 1:
            return None
        known = name, length
        with self.lock:
            if known not in self._areas:
                needed = self._area if length is None else length
                self._areas[known] = [np.zeros(needed, np.uint8) for _ in range(size)]
            return self._areas[known]

    def blocks(self, place):
        """The blocks of a process for messages to others on its machine, or None."""
        machines = [*self.hosts, *["memory"] * (len(self.roles) - self.size)]
        near = [
            other
            for other, machine in enumerate(machines)
            if machine == machines[place] and other != place
        ]
        if self._area is None or not near:
            return None

        def memory(owner, start, length):
            name = "blocks", place if owner is None else owner, start
            with self.lock:
                return self._areas.setdefault(name, np.zeros(length, np.uint8))

        return SharedBlocks(near, memory)

    def die(self, place):
        """Make a rank fail as if it were killed."""
        with self.lock:
            self.dead.add(place)
            self.lock.notify_all()

    def add(self, count, members):
        """Reserve places for `count` more ranks; return the places of all members."""
        with self.lock:
            first = len(self.places)
            for content, more in (
                (self.hosts, "memory"),
                (self.roles, "worker"),
                (self.worlds, None),
                (self.places, None),
            ):
                content += [more] * count
            return [*members, *range(first, first + count)]

    def join(self, place, epoch, members):
        """Create the world of a new rank, on its thread."""
        world = MemoryWorld(self, place, self.seed, epoch, members)
        self.worlds[place] = self.places[place] = world
        world.enter()
        return world

    def gather(self, name, place, members, value):
        """Blocking all-gather among the members.

        Raises
        ------
        _RankDied
            When one of the members has died.
        """
        with self.lock:
            values = self._meetings.setdefault(("gathered", name), {})
            values[place] = value
            self.lock.notify_all()
            while not values.keys() >= set(members):
                if self.dead & set(members):
                    raise _RankDied
                self.lock.wait()
            return [values[member] for member in members]

    def survivors(self, name, place, members):
        """The members that are alive, agreed on by all of them; blocks."""
        with self.lock:
            asked = self._meetings.setdefault(("survivors", name), set())
            asked.add(place)
            self.lock.notify_all()
            if ("alive", name) not in self._meetings:
                self.lock.wait_for(
                    lambda: ("alive", name) in self._meetings or asked >= set(members) - self.dead
                )
            alive = [member for member in members if member not in self.dead]
            return self._meetings.setdefault(("alive", name), alive)


class _Meeting:
    def __init__(self, size):
        self.inputs = [None] * size
        self.missing = size


class MemoryWorld:
    """One rank's view of a `MemoryJob`; see `World`."""

    engine = "threads of one process"
    bells = None

    def __init__(self, job, place, seed=None, epoch=0, members=None):
        self.job, self.place, self.roles = job, place, job.roles
        self.joins, self.name = bool(epoch), f"rank {place}"
        self.machines = ["memory"] * len(job.roles)
        server = job.roles[place] == "server"
        self.rank = place - job.size if server else place
        self.size = len(job.roles) - job.size if server else job.size
        self.hosts = ["memory"] * self.size if server else list(job.hosts)
        self.processes = [["", 0]] * self.size
        self.levels = None if server else levels_of(self.rank, self.hosts)
        self.mailbox, self.messages = deque(), deque()
        self._draw = None if seed is None else random.Random(seed * 1009 + place)
        self.members, self.epoch = (list(range(self.size)), epoch)  # places; changes so far
        self.channels = []
        self._control = _Channel(self, "control", self.rank, self.size)
        self.blocks = job.blocks(place) if members is None else None
        self._ends = self._gathers = 0
        if members is not None:
            self._rebuild(members)

    def new_channel(self):
        """See `World.new_channel`."""
        number = len(self.channels)
        channel = _Channel(self, number, self.rank, self.size)
        channel.number = number
        self.channels.append(channel)
        if self.levels is not None:
            machine, place = self.levels
            machines = len(set(self.hosts))
            local = self.size // machines
            channel.inside = _Channel(self, (number, "inside", machine), place, local)
            channel.between = _Channel(self, (number, "between", place), machine, machines)
        return channel

    def control(self):
        """The channel for collectives outside of buckets."""
        return self._control

    def send_control(self, rank, content):
        """Send a control message to a rank."""
        self.job.worlds[self.members[rank]].mailbox.append((self.epoch, self.rank, content))

    def receive_control(self):
        """The next control message that has arrived, or None."""
        self.check()
        while self.mailbox and self.mailbox[0][0] <= self.epoch:
            epoch, rank, content = self.mailbox.popleft()
            if epoch == self.epoch:
                return rank, content
        return None

    def check(self):
        """Fail if a member has died.

        Raises
        ------
        _RankDied
            Until `shrink` has been called.
        """
        if self.job.dead and self.job.dead.intersection(self.members):
            raise _RankDied(f"rank {self.rank}: another rank has died")

    def is_peer_failure(self, error):
        """Whether an error reports the death of another rank."""
        return isinstance(error, _RankDied) and self.place not in self.job.dead

    def shrink(self):
        """Continue without dead ranks; collective; see `World.shrink`."""
        former = self.members
        members = self.job.survivors(self.epoch, self.place, former)
        self.epoch += 1
        self._rebuild(members)
        return [former.index(member) for member in self.members]

    def grow(self, line, count):
        """Continue with `count` new ranks, which rank 0 starts; collective."""
        joined = self.job.add(count, self.members) if self.rank == 0 else None
        members = self.broadcast_from(0, joined)
        first = self.rank == 0
        self.epoch += 1
        self._rebuild(members)
        if first:
            for member in members[-count:]:
                self.job.start(member, self.epoch, members)
        self.allgather(len(self.channels))

    def enter(self):
        """A new rank's side of `grow`."""
        for _ in range(max(self.allgather(0))):
            self.new_channel()

    def _rebuild(self, members):
        """Switch to new members."""
        self.members, self._ends, self._gathers, self.levels = members, 0, 0, None
        self.rank, self.size = members.index(self.place), len(members)
        self.hosts = [self.job.hosts[member] for member in members]
        self.machines, self.processes = self.hosts, [["", 0]] * self.size
        self.roles = ["worker"] * self.size
        for channel in (self._control, *self.channels):
            channel.reset(self.rank, self.size)

    def allgather(self, value):
        """The values of all ranks, by rank; blocks."""
        self._gathers += 1
        name = self.epoch, self._gathers
        return self.job.gather(name, self.place, self.members, value)

    def broadcast_from(self, root, value):
        """The value of rank `root`; blocks."""
        return self.allgather(value)[root]

    def begin_barrier(self):
        """Start a barrier of all processes; return its request."""
        self._ends += 1
        place = self.place if self.epoch == 0 else self.rank
        meeting = self.job.meet((self.epoch, "end", self._ends), place, None, len(self.roles))
        return self.request(meeting, lambda inputs: None)

    def send_message(self, place, head, body=None, given=False):
        """See `World.send_message`."""
        content, loan = np.empty(0, np.uint8), None
        if isinstance(body, SharedBlock):
            near = self.blocks and place in self.blocks.readers
            loan = body.lend() if near else None
            content = body.array() if place == self.place else body.array().copy()
        elif body is not None:
            content = body.reshape(-1).view(np.uint8).copy()
        if loan is not None:
            content = body.start, body.nbytes, loan
        at = time.monotonic() + self._delay()
        self.job.places[place].messages.append((at, (self.place, head, content)))
        return self.request(_Meeting(0), lambda inputs: None)

    def receiving(self):
        """Whether bodies of messages are still arriving."""
        return False

    def receive_message(self, memory_of=None):
        """The next message that has arrived, or None."""
        if not self.messages or time.monotonic() < self.messages[0][0]:
            return None
        place, head, content = self.messages.popleft()[1]
        if isinstance(content, tuple):
            content = self.blocks.borrow(place, *content)
        return place, head, content

    def finalize(self):
        """Do nothing: threads need no shutdown."""

    def request(self, meeting, take):
        """A request that is done once all ranks have contributed, plus a random delay."""
        return _Request(self, meeting, take, self._delay())

    def _delay(self):
        """Seconds; not a number of polls, which are rare where nothing progresses."""
        return self._draw.choice((0, 0, 2e-5, 2e-4, 2e-3)) if self._draw else 0


class _Channel:
    inside = between = None

    def __init__(self, world, name, rank, size):
        self._world, self._name, self._calls = world, name, 0
        self.rank, self.size = rank, size

    def reset(self, rank, size):
        """Continue with other ranks and restart the numbering of collectives."""
        self.rank, self.size, self._calls = rank, size, 0
        self.inside = self.between = None

    @property
    def most_values(self):
        return 1 << 40 if self.areas else 0

    @property
    def areas(self):
        return self._world.job.areas((self._world.epoch, self._name), self.size)

    def values(self, length):
        return self._world.job.areas((self._world.epoch, self._name), self.size, length)

    def barrier(self):
        return self._meet(None, lambda inputs: None)

    def _meet(self, content, take):
        self._calls += 1
        world = self._world
        copied = None if content is None else np.array(content)
        name = world.epoch, self._name, self._calls
        return world.request(world.job.meet(name, self.rank, copied, self.size), take)

    def all_reduce(self, source, target):
        def take(inputs):
            target[...] = inputs[0]
            for part in inputs[1:]:
                np.add(target, part, out=target)

        return self._meet(source, take)

    def all_reduce_min(self, source, target):
        return self._meet(source, lambda inputs: np.copyto(target, np.min(inputs, axis=0)))

    def all_gather(self, source, target):
        return self._meet(
            source, lambda inputs: np.copyto(target.reshape(len(inputs), -1), np.stack(inputs))
        )

    def reduce_scatter(self, source, target, lengths):
        rank = self.rank

        def take(inputs):
            total = np.sum(inputs, axis=0, dtype=target.dtype)
            target[: lengths[rank]] = parts(total, lengths)[rank]

        return self._meet(source, take)

    def all_gather_v(self, source, target, lengths):
        if source is None:
            source = parts(target, lengths)[self.rank]
        return self._meet(source, lambda inputs: np.copyto(target, np.concatenate(inputs)))

    def all_to_all_v(self, source, sent, target, taken):
        rank = self.rank

        def take(inputs):
            shares = [parts(content, lengths)[rank] for content, lengths in inputs]
            np.copyto(target, np.concatenate(shares))

        self._calls += 1
        name = self._world.epoch, self._name, self._calls
        content = np.array(source), sent
        meeting = self._world.job.meet(name, rank, content, self.size)
        return self._world.request(meeting, take)

    def broadcast(self, array, root):
        source = array if self.rank == root else None
        return self._meet(source, lambda inputs: np.copyto(array, inputs[root]))


class _Request:
    def __init__(self, world, meeting, take, delay):
        self._world = world
        self._meeting, self._take, self._delay = meeting, take, delay
        self._until = None

    def done(self):
        if self._meeting is None:
            return True
        if self._meeting.missing or self._delay:
            self._world.check()
        if self._meeting.missing:
            return False
        if self._delay:
            self._until = self._until or time.monotonic() + self._delay
            if time.monotonic() < self._until:
                return False
        self._take(self._meeting.inputs)
        self._meeting = None
        return True
