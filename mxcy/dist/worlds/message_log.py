"""A log of communication on the standard error (PS_VERBOSE)."""

import sys

__all__ = ["logged"]

_CONNECTIONS, _MESSAGES = 1, 2  # levels


def logged(world, level):
    """Wrap a world so that it logs what it sends and receives.

    Parameters
    ----------
    world : World
    level : int
        0: nothing; 1: connections; 2: messages, control messages and collectives as well.

    Returns
    -------
    World
        `world` itself at level 0 and 1.
    """
    if level >= _CONNECTIONS:
        _log_connections(world)
    return _LoggedWorld(world) if level >= _MESSAGES else world


def _log_connections(world):
    for place, (role, machine) in enumerate(zip(world.roles, world.machines, strict=True)):
        here = ", which is this one" if place == world.place else ""
        _log(world, f"connected to process {place} ({role} on {machine}){here}, by {world.engine}")


def _log(world, text):
    sys.stderr.write(
        f"{world.roles[world.place]} {world.rank}: {text}\n"
    )  # one write: lines of ranks would mix


class _LoggedWorld:
    """Logs messages and control messages, and delegates everything else."""

    def __init__(self, world):
        self._world = world

    def __getattr__(self, name):
        return getattr(self._world, name)

    def new_channel(self):
        return _LoggedChannel(self._world, self._world.new_channel())

    @property
    def channels(self):
        return [_LoggedChannel(self._world, channel) for channel in self._world.channels]

    def control(self):
        return _LoggedChannel(self._world, self._world.control())

    def send_control(self, rank, content):
        _log(self._world, f"sends to rank {rank}: {content.decode()}")
        self._world.send_control(rank, content)

    def receive_control(self):
        message = self._world.receive_control()
        if message is not None:
            _log(self._world, f"receives from rank {message[0]}: {message[1].decode()}")
        return message

    def send_message(self, place, head, body=None, given=False):
        length = 0 if body is None else body.nbytes
        _log(self._world, f"sends to process {place}: {head.decode()} and {length} bytes")
        return self._world.send_message(place, head, body, given)

    def receive_message(self, memory_of=None):
        message = self._world.receive_message(memory_of)
        if message is not None:
            place, head, body = message
            text = f"receives from process {place}: {head.decode()} and {body.nbytes} bytes"
            _log(self._world, text)
        return message

    def shrink(self):
        formers = self._world.shrink()
        _log_connections(self._world)
        return formers

    def grow(self, line, count):
        self._world.grow(line, count)
        _log_connections(self._world)


class _LoggedChannel:
    """Logs collectives when they begin."""

    def __init__(self, world, channel):
        self._world, self._channel = world, channel

    @property
    def inside(self):
        inside = self._channel.inside
        return inside and _LoggedChannel(self._world, inside)

    @property
    def between(self):
        between = self._channel.between
        return between and _LoggedChannel(self._world, between)

    @property
    def number(self):
        return self._channel.number

    @property
    def most_values(self):
        return self._channel.most_values

    @property
    def areas(self):
        return self._channel.areas

    def values(self, length):
        """See `Channel.values`."""
        return self._channel.values(length)

    def barrier(self):
        _log(self._world, "begins barrier")
        return self._channel.barrier()

    @property
    def rank(self):
        return self._channel.rank

    @property
    def size(self):
        return self._channel.size

    def __getattr__(self, name):
        method = getattr(self._channel, name)

        def call(array, *others):
            length = (others[0] if array is None else array).nbytes
            _log(self._world, f"begins {name} of {length} bytes")
            return method(array, *others)

        return call
