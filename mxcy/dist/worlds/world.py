"""The processes of a job by MPI: the only module that imports mpi4py."""

import ctypes
import importlib
import importlib.util
import os
import socket
from collections import deque

import numpy as np

from mxcy.base import MXNetError
from mxcy.dist.worlds.machines import levels_of
from mxcy.dist.worlds.neighbour import identity

__all__ = ["World", "has_engine", "no_engine"]

_CONTROL, _HEAD, _BODY = 1, 2, 3  # tags: of control messages, and of the two parts of letters
_MOST_BODIES = 64  # of letters that are on their way; the heads of others wait
_LENGTH_BYTES = 8


def has_engine():
    """Whether mpi4py is installed."""
    return importlib.util.find_spec("mpi4py") is not None


def no_engine(why):
    """The error for a job of several processes without mpi4py."""
    return MXNetError(
        f"{why}, but mpi4py is not installed; 'pip install mxcy[dist]' has it with MPICH, "
        "'pip install mxcy[dist-ft]' with Open MPI"
    )


class World:
    """The workers of a job; all methods belong to the thread that opened it.

    Parameters
    ----------
    role : {'worker', 'server'}
        What this process is; processes of the same role make a world.
    elastic : bool
        Whether processes may die, and the others go on.
    joins : bool
        Whether a running job has started this process; it is let in then.

    Attributes
    ----------
    rank, size : int
        The number of this process among those of its role, and how many these are.
    hosts : list of str
        The machine of each.
    processes : list
        The `identity` of each.
    place : int
        The number of this process among all of the job.
    roles, machines : list of str
        Of all processes of the job, by their places.
    engine : str
        The name and version of the library.
    channels : list
        Those of `new_channel`.
    name : str
        Of this process among all that the job ever has.
    levels : tuple of int or None
        The number of this process's machine, and that of the process on it; None unless several
        machines have as many processes each, more than one.

    Raises
    ------
    MXNetError
        When mpi4py or MPI cannot be opened.
    """

    def __init__(self, role="worker", elastic=False, joins=0):
        self._mpi, self._owned = _open()
        self._elastic = elastic
        if elastic:  # Open MPI's own end may wait for those that have died
            library = ctypes.CDLL(None)
            library.on_exit(library._exit, None)
        mpi = self._mpi
        self.channels, self._aborted, self._broken = [], [], None
        self._own = deque()  # letters to this process
        self._coming = {}  # place -> its letters whose bodies may be on their way
        self._sent = []
        self.engine = mpi.Get_library_version().splitlines()[0].strip("\0 ")
        self.joins, self.levels = bool(joins), None
        if joins:
            self.name = f"newcomer {joins}.{mpi.COMM_WORLD.rank}"
            counts, _ = self._begin_anew(mpi.Comm.Get_parent().Merge(True))
            for _ in range(max(counts)):
                self.new_channel()
            return
        whole = mpi.COMM_WORLD.Dup()
        whole.Set_errhandler(mpi.ERRORS_RETURN)
        self._whole = whole
        roles, machines = zip(*whole.allgather((role, socket.gethostname())), strict=True)
        self.roles, self.machines, self.place = list(roles), list(machines), whole.rank
        self._comm = whole.Split(roles.index(role), whole.rank)
        self.rank, self.size = self._comm.rank, self._comm.size
        rows = self._comm.allgather((socket.gethostname(), identity()))
        self.hosts, self.processes = [host for host, _ in rows], [one for _, one in rows]
        self.name = f"rank {self.rank}"
        self.levels = None if elastic else levels_of(self.rank, self.hosts)
        self._posts, self._letters = whole.Dup(), self._comm.Dup()

    def new_channel(self):
        """Open a channel, on which collective calls meet in order; all processes call this."""
        channel = _Channel(self._mpi, self._comm.Dup(), len(self.channels))
        if self.levels is not None:
            machine, number = self.levels
            channel.inside = _Channel(self._mpi, self._comm.Split(machine, number))
            channel.between = _Channel(self._mpi, self._comm.Split(number, machine))
        self.channels.append(channel)
        return channel

    def control(self):
        """The channel for agreements."""
        return _Channel(self._mpi, self._comm)

    # -- control messages: what one process tells another

    def send(self, rank, content):
        """Send bytes to a process; the call does not wait."""
        if self._broken is None:
            self._sent = [request for request in self._sent if not request.Test()]
        octets = bytearray(content)
        try:
            self._sent.append(self._letters.Isend([octets, self._mpi.BYTE], rank, _CONTROL))
        except self._mpi.Exception as error:
            self._broken = error  # `receive` tells of it, when it can be dealt with

    def receive(self):
        """A message that has come, as (rank of the sender, bytes), or None."""
        mpi, status = self._mpi, self._mpi.Status()
        if self._broken is not None:
            raise self._broken
        if not self._letters.Iprobe(mpi.ANY_SOURCE, _CONTROL, status):
            return None
        octets = bytearray(status.Get_count(mpi.BYTE))
        self._letters.Recv([octets, mpi.BYTE], status.source, _CONTROL)
        return status.source, bytes(octets)

    # -- letters: a text and an array, between processes of any role ------------------------------

    def post(self, place, head, body=None):
        """Send a letter.

        Parameters
        ----------
        place : int
        head : bytes
        body : numpy.ndarray, optional
            Contiguous; it may change when the letter is away.

        Returns
        -------
        request
        """
        mpi = self._mpi
        if place == self.place:
            content = (
                np.empty(0, np.uint8) if body is None else body.reshape(-1).view(np.uint8).copy()
            )
            self._own.append((place, head, content))
            return _Requests([], None)
        length = 0 if body is None else body.nbytes
        octets = bytearray(length.to_bytes(_LENGTH_BYTES, "little") + head)
        requests = [self._posts.Isend([octets, mpi.BYTE], place, _HEAD)]
        if length:
            content = body.reshape(-1).view(np.uint8)
            requests.append(self._posts.Isend([content, mpi.BYTE], place, _BODY))
        return _Requests(requests, octets)

    def fetch(self):
        """A letter that has come as a whole, or None; those of one sender come in order.

        Returns
        -------
        tuple of (int, bytes, numpy.ndarray of uint8) or None
            The sender's place, head and body.
        """
        if self._own:
            return self._own.popleft()
        self._take_heads()
        for place, letters in self._coming.items():
            if letters and (letters[0][2] is None or letters[0][2].Test()):
                head, body, _ = letters.popleft()
                return place, head, body
        return None

    def receives(self):
        """Whether bodies of letters are on their way here."""
        return any(letters and letters[0][2] is not None for letters in self._coming.values())

    def _take_heads(self):
        mpi, status = self._mpi, self._mpi.Status()
        while sum(map(len, self._coming.values())) < _MOST_BODIES:
            message = self._posts.Improbe(mpi.ANY_SOURCE, _HEAD, status)
            if message is None:
                return
            octets = bytearray(status.Get_count(mpi.BYTE))
            message.Recv([octets, mpi.BYTE])
            body = np.empty(int.from_bytes(octets[:_LENGTH_BYTES], "little"), np.uint8)
            request = (
                self._posts.Irecv([body, mpi.BYTE], status.source, _BODY) if body.size else None
            )
            letters = self._coming.setdefault(status.source, deque())
            letters.append((bytes(octets[_LENGTH_BYTES:]), body, request))

    # -- processes that die ------------------------------------------------------------------------

    def loses(self, error):
        """Whether an error tells that a process has died and that the others may go on."""
        mpi = self._mpi
        if not isinstance(error, mpi.Exception) or "Open MPI" not in self.engine:
            return False
        return error.Get_error_class() in (
            mpi.ERR_PROC_FAILED,
            mpi.ERR_PROC_FAILED_PENDING,
            mpi.ERR_REVOKED,
        )

    def shrink(self):
        """Go on without the processes that have died; all others do so.

        Returns
        -------
        list of int
            The former ranks of those that are left.
        """
        former = self.rank
        self._aborted += self._sent  # MPI may still read what they have sent
        self._sent, self._broken = [], None
        for comm in (self._comm, self._letters, self._posts, *(c.comm for c in self.channels)):
            comm.Revoke()
        self._whole.Revoke()
        counts, formers = self._begin_anew(self._whole.Shrink(), former)
        for channel in self.channels[: min(counts)]:
            channel.comm = self._comm.Dup()
        return formers

    def grow(self, line, count):
        """Start further workers by a command line, and continue with them; all others do so.

        Nothing may be under way.
        """
        mpi = self._mpi
        info = mpi.Info.Create({"wdir": os.getcwd()})
        self._begin_anew(self._whole.Spawn(line[0], line[1:], count, info).Merge(False))
        self.levels = None
        for channel in self.channels:
            channel.replace(self._comm.Dup())

    def _begin_anew(self, whole, former=0):
        """Have other processes than before: how many channels each has, and its former rank."""
        if self._elastic:  # MPI's own end would wait for those that have died
            self._owned = False
        whole.Set_errhandler(self._mpi.ERRORS_RETURN)
        self._whole = whole
        self._comm, self._letters, self._posts = whole.Dup(), whole.Dup(), whole.Dup()
        rows = whole.allgather([former, socket.gethostname(), identity(), len(self.channels)])
        formers, hosts, processes, counts = (list(column) for column in zip(*rows, strict=True))
        self.rank = self.place = whole.rank
        self.size, self.hosts, self.processes, self.machines = whole.size, hosts, processes, hosts
        self.roles = ["worker"] * self.size
        return counts, formers

    def allgather(self, value):
        """What each process says; it waits for all."""
        return self._comm.allgather(value)

    def broadcast_from(self, root, value):
        """What one process says; it waits for it."""
        return self._comm.bcast(value, root)

    # -- the end ----------------------------------------------------------------------------------

    def everybody(self):
        """A request that is done when all processes of the job, of all roles, have made it."""
        return _Request(self._whole.Ibarrier())

    def finalize(self):
        """Leave MPI, which all processes have to do."""
        if self._owned and not self._mpi.Is_finalized():
            self._mpi.Finalize()


def _open():
    """The module mpi4py.MPI, initialized; and whether it is ours to finalize."""
    if not has_engine():
        raise no_engine("a job of several processes needs MPI")
    settings = importlib.import_module("mpi4py").rc
    try:
        settings.initialize = settings.finalize = False
        settings.thread_level = "multiple"
        mpi = importlib.import_module("mpi4py.MPI")
        owned = not mpi.Is_initialized()
        if owned:
            mpi.Init_thread(mpi.THREAD_MULTIPLE)
    except (ImportError, RuntimeError, AttributeError) as error:
        raise MXNetError(f"MPI cannot be opened: {error}") from error
    return mpi, owned


class _Channel:
    """Collective calls that do not wait; each gives a request.

    Attributes
    ----------
    number : int or None
        Its place among the world's channels.
    inside, between : _Channel or None
        Where a world has levels: among the processes of this one's machine, and among those that
        have its number on theirs.
    """

    inside = between = None

    def __init__(self, mpi, comm, number=None):
        self._mpi, self.comm, self.number = mpi, comm, number

    def replace(self, comm):
        """Go on with other processes, without levels, when nothing is under way."""
        for channel in (self.inside, self.between):
            if channel is not None:
                channel.comm.Free()
        self.comm.Free()
        self.comm, self.inside, self.between = comm, None, None

    @property
    def rank(self):
        """int: the number of this process on the channel."""
        return self.comm.rank

    @property
    def size(self):
        """int: how many there are."""
        return self.comm.size

    def sum(self, source, target):
        """Add up arrays of all processes; the same array for both is changed in place."""
        mpi = self._mpi
        mine = mpi.IN_PLACE if source is target else source
        return _Request(self.comm.Iallreduce(mine, target, mpi.SUM))

    def least(self, source, target):
        """The least of each element over all processes."""
        return _Request(self.comm.Iallreduce(source, target, self._mpi.MIN))

    def gather(self, source, target):
        """The arrays of all processes, as rows, or one after the other."""
        return _Request(self.comm.Iallgather(source, target))

    def sum_parts(self, source, target, lengths):
        """Add up arrays; each process gets its part of the sum, at the beginning of `target`.

        It cannot be done in place: MPICH refuses parts of several lengths then.
        """
        mine = target[: lengths[self.rank]]
        return _Request(self.comm.Ireduce_scatter(source, mine, lengths, self._mpi.SUM))

    def gather_parts(self, source, target, lengths):
        """Arrays of several lengths one after the other; None: each is in its place."""
        kind = self._mpi._typedict[target.dtype.char]
        mine = self._mpi.IN_PLACE if source is None else source
        return _Request(self.comm.Iallgatherv(mine, [target, lengths, kind]))

    def deal(self, source, sent, target, taken):
        """Send parts of given lengths to the processes in order, and take theirs."""
        kind = self._mpi._typedict[source.dtype.char]
        return _Request(self.comm.Ialltoallv([source, sent, kind], [target, taken, kind]))

    def broadcast(self, array, root):
        """Take the array of one process."""
        return _Request(self.comm.Ibcast(array, root))


class _Request:
    """What has been started and may be done."""

    def __init__(self, request):
        self._request = request

    def done(self):
        """Whether it is; asking makes it go on."""
        return self._request.Test()


class _Requests:
    """Several at once; they keep what they read."""

    def __init__(self, requests, kept):
        self._requests, self._kept = requests, kept

    def done(self):
        """Whether all are."""
        self._requests = [request for request in self._requests if not request.Test()]
        return not self._requests
