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

_CONTROL, _HEAD, _BODY = (
    1,
    2,
    3,
)  # tags: of control messages, and of the two parts of other messages
_MOST_BODIES = 64  # of messages in flight; the heads of others wait
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
        self._own = deque()  # messages from this process to itself
        self._coming = {}  # place -> its messages whose bodies may be in flight
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
        self._message_comm, self._control_comm = whole.Dup(), self._comm.Dup()

    def new_channel(self):
        """Open a channel, on which collective calls match in order; all processes call this."""
        channel = _Channel(self._mpi, self._comm.Dup(), len(self.channels))
        if self.levels is not None:
            machine, number = self.levels
            channel.inside = _Channel(self._mpi, self._comm.Split(machine, number))
            channel.between = _Channel(self._mpi, self._comm.Split(number, machine))
        self.channels.append(channel)
        return channel

    def control(self):
        """The channel for collective calls outside of buckets."""
        return _Channel(self._mpi, self._comm)

    # -- control messages: small, between processes of one role

    def send_control(self, rank, content):
        """Send bytes to a process of the same role; the call does not wait."""
        if self._broken is None:
            self._sent = [request for request in self._sent if not request.Test()]
        octets = bytearray(content)
        try:
            self._sent.append(self._control_comm.Isend([octets, self._mpi.BYTE], rank, _CONTROL))
        except self._mpi.Exception as error:
            self._broken = error  # `receive` tells of it, when it can be dealt with

    def receive_control(self):
        """The next control message that has arrived, as (rank of the sender, bytes), or None."""
        mpi, status = self._mpi, self._mpi.Status()
        if self._broken is not None:
            raise self._broken
        if not self._control_comm.Iprobe(mpi.ANY_SOURCE, _CONTROL, status):
            return None
        octets = bytearray(status.Get_count(mpi.BYTE))
        self._control_comm.Recv([octets, mpi.BYTE], status.source, _CONTROL)
        return status.source, bytes(octets)

    # -- messages: a head and an array, between processes of any role -----------------------------

    def send_message(self, place, head, body=None):
        """Send a message to a process of any role.

        Parameters
        ----------
        place : int
        head : bytes
        body : numpy.ndarray, optional
            Contiguous; it may change once the request is done.

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
        requests = [self._message_comm.Isend([octets, mpi.BYTE], place, _HEAD)]
        if length:
            content = body.reshape(-1).view(np.uint8)
            requests.append(self._message_comm.Isend([content, mpi.BYTE], place, _BODY))
        return _Requests(requests, octets)

    def receive_message(self):
        """The next complete message, or None; those of one sender keep their order.

        Returns
        -------
        tuple of (int, bytes, numpy.ndarray of uint8) or None
            The sender's place, head and body.
        """
        if self._own:
            return self._own.popleft()
        self._take_heads()
        for place, messages in self._coming.items():
            if messages and (messages[0][2] is None or messages[0][2].Test()):
                head, body, _ = messages.popleft()
                return place, head, body
        return None

    def receiving(self):
        """Whether bodies of messages are still arriving."""
        return any(messages and messages[0][2] is not None for messages in self._coming.values())

    def _take_heads(self):
        mpi, status = self._mpi, self._mpi.Status()
        while sum(map(len, self._coming.values())) < _MOST_BODIES:
            message = self._message_comm.Improbe(mpi.ANY_SOURCE, _HEAD, status)
            if message is None:
                return
            octets = bytearray(status.Get_count(mpi.BYTE))
            message.Recv([octets, mpi.BYTE])
            body = np.empty(int.from_bytes(octets[:_LENGTH_BYTES], "little"), np.uint8)
            request = (
                self._message_comm.Irecv([body, mpi.BYTE], status.source, _BODY)
                if body.size
                else None
            )
            messages = self._coming.setdefault(status.source, deque())
            messages.append((bytes(octets[_LENGTH_BYTES:]), body, request))

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
        """Continue without the processes that have died; all survivors call this.

        Returns
        -------
        list of int
            The former ranks of those that are left.
        """
        former = self.rank
        self._aborted += self._sent  # MPI may still read what they have sent
        self._sent, self._broken = [], None
        for comm in (
            self._comm,
            self._control_comm,
            self._message_comm,
            *(c.comm for c in self.channels),
        ):
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
        """Take over a new communicator: how many channels each process has, and its former rank."""
        if self._elastic:  # MPI's own end would wait for those that have died
            self._owned = False
        whole.Set_errhandler(self._mpi.ERRORS_RETURN)
        self._whole = whole
        self._comm, self._control_comm, self._message_comm = whole.Dup(), whole.Dup(), whole.Dup()
        rows = whole.allgather([former, socket.gethostname(), identity(), len(self.channels)])
        formers, hosts, processes, counts = (list(column) for column in zip(*rows, strict=True))
        self.rank = self.place = whole.rank
        self.size, self.hosts, self.processes, self.machines = whole.size, hosts, processes, hosts
        self.roles = ["worker"] * self.size
        return counts, formers

    def allgather(self, value):
        """The values of all processes, by rank; blocks."""
        return self._comm.allgather(value)

    def broadcast_from(self, root, value):
        """The value of process `root`; blocks."""
        return self._comm.bcast(value, root)

    # -- the end ----------------------------------------------------------------------------------

    def begin_barrier(self):
        """A nonblocking barrier of all processes of the job, of all roles; a request."""
        return _Request(self._whole.Ibarrier())

    def finalize(self):
        """Finalize MPI, which all processes must do."""
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
    """Nonblocking collective calls of a communicator; each returns a request.

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
        """Go on with another communicator, without levels, when no call is in flight."""
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

    def all_reduce(self, source, target):
        """Sum the arrays of all processes; in place if both are the same array."""
        mpi = self._mpi
        mine = mpi.IN_PLACE if source is target else source
        return _Request(self.comm.Iallreduce(mine, target, mpi.SUM))

    def all_reduce_min(self, source, target):
        """The minimum of each element over all processes."""
        return _Request(self.comm.Iallreduce(source, target, self._mpi.MIN))

    def all_gather(self, source, target):
        """Concatenate the arrays of all processes, which have the same length."""
        return _Request(self.comm.Iallgather(source, target))

    def reduce_scatter(self, source, target, lengths):
        """Sum arrays; each process gets its part of the sum, at the start of `target`.

        Never in place: MPICH refuses that for parts of different lengths.
        """
        mine = target[: lengths[self.rank]]
        return _Request(self.comm.Ireduce_scatter(source, mine, lengths, self._mpi.SUM))

    def all_gather_v(self, source, target, lengths):
        """Concatenate arrays of different lengths; a source of None is in its place already."""
        kind = self._mpi._typedict[target.dtype.char]
        mine = self._mpi.IN_PLACE if source is None else source
        return _Request(self.comm.Iallgatherv(mine, [target, lengths, kind]))

    def all_to_all_v(self, source, sent, target, taken):
        """Send each process a part of `source`, and receive one from each; lengths by rank."""
        kind = self._mpi._typedict[source.dtype.char]
        return _Request(self.comm.Ialltoallv([source, sent, kind], [target, taken, kind]))

    def broadcast(self, array, root):
        """Overwrite the array with that of process `root`."""
        return _Request(self.comm.Ibcast(array, root))


class _Request:
    """A call in flight."""

    def __init__(self, request):
        self._request = request

    def done(self):
        """Whether it has finished; MPI makes progress while it is asked."""
        return self._request.Test()


class _Requests:
    """Several calls, which keep the memory they read alive."""

    def __init__(self, requests, kept):
        self._requests, self._kept = requests, kept

    def done(self):
        """Whether all are."""
        self._requests = [request for request in self._requests if not request.Test()]
        return not self._requests
