"""Process groups with MPI: the only module that imports mpi4py."""

import contextlib
import ctypes
import importlib
import importlib.util
import os
import socket
import struct
from collections import deque

import numpy as np

from mxcy.base import MXNetError
from mxcy.dist.memory import take
from mxcy.dist.worlds.bells import Bells
from mxcy.dist.worlds.channel import Channel, Request, Requests
from mxcy.dist.worlds.machines import levels_of
from mxcy.dist.worlds.memory_files import MemoryFiles
from mxcy.dist.worlds.neighbour import identity
from mxcy.dist.worlds.segments import Segments
from mxcy.dist.worlds.shared_blocks import SharedBlock, SharedBlocks

__all__ = ["World", "has_engine", "no_engine"]

_CONTROL, _HEAD, _BODY = 1, 2, 3  # tags of control messages, and of the parts of other messages
_MOST_BODIES = 64  # bodies received at a time; further heads stay queued in MPI
_MPI_MEMORY = "/dev/shm/mpich_shm_"  # where MPICH's files with shared memory are
_BLOCK_BYTES = 1 << 40  # of the file of blocks, which is sparse
_PREFIX = struct.Struct("<qqi")  # of a head: the body's bytes, and its block and loan or -1


def has_engine():
    """Whether mpi4py is installed."""
    return importlib.util.find_spec("mpi4py") is not None


def no_engine(why):
    """The error of a multi-process job without mpi4py."""
    return MXNetError(
        f"{why}, but mpi4py is not installed; 'pip install mxcy[dist]' has it with MPICH, "
        "'pip install mxcy[dist-ft]' with Open MPI"
    )


class World:
    """The processes of one role in a job; used only on the thread that created it.

    Parameters
    ----------
    role : {'worker', 'server'}
        This process's role; processes of the same role form a world.
    elastic : bool
        Whether the job continues when processes die.
    joins : int
        If not 0, a running job has started this process, the `joins`-th time that it grew.
    shares_memory : bool
        Whether processes on one machine may sum large arrays and pass messages in shared memory.

    Attributes
    ----------
    rank, size : int
        Rank among the processes of this role, and their number.
    hosts : list of str
        Host name by rank.
    processes : list
        `identity` by rank.
    place : int
        Index among all processes of the job, of every role.
    roles, machines : list of str
        Role and host name of all processes of the job, by place.
    engine : str
        Name and version of the MPI library.
    channels : list
        All channels made by `new_channel`.
    name : str
        Name of this process, unique over the job's lifetime.
    levels : tuple of int or None
        See `levels_of`.
    blocks : SharedBlocks or None
        For bodies of messages to processes on this machine, if there are such.
    bells : Bells or None
        To wake these processes.

    Raises
    ------
    MXNetError
        When mpi4py or MPI cannot be opened.
    """

    def __init__(self, role="worker", elastic=False, joins=0, shares_memory=True):
        self._mpi, self._owned = _open()
        self._elastic = elastic
        self._shares_memory, self._segments = shares_memory, None
        if elastic:  # Open MPI's exit handlers may wait for dead processes
            library = ctypes.CDLL(None)
            library.on_exit(library._exit, None)
        mpi = self._mpi
        self.channels, self._aborted, self._broken = [], [], None
        self._to_self = deque()  # messages from this process to itself
        self._incoming = {}  # place -> messages whose bodies may be in flight
        self._sent = []
        self.engine = mpi.Get_library_version().splitlines()[0].strip("\0 ")
        self.joins, self.levels, self.blocks, self.bells = bool(joins), None, None, None
        if joins:
            self.name = f"newcomer {joins}.{mpi.COMM_WORLD.rank}"
            counts, _ = self._rebuild(mpi.Comm.Get_parent().Merge(True))
            for _ in range(max(counts)):
                self.new_channel()
            return
        world = mpi.COMM_WORLD.Dup()
        world.Set_errhandler(mpi.ERRORS_RETURN)
        self._world = world
        files = self._open_files()
        own = role, socket.gethostname(), identity(), files and files.path
        processes = world.allgather(own)
        self.roles, self.machines = ([row[column] for row in processes] for column in (0, 1))
        self.place = world.rank
        self._comm = world.Split(self.roles.index(role), world.rank)
        self.rank, self.size = self._comm.rank, self._comm.size
        peers = [row for row in processes if row[0] == role]
        self.hosts, self.processes = [row[1] for row in peers], [row[2] for row in peers]
        self.name = f"rank {self.rank}"
        self.levels = None if elastic else levels_of(self.rank, self.hosts)
        self._message_comm, self._control_comm = world.Dup(), self._comm.Dup()
        self._open_blocks(files, processes)
        self._open_segments()

    def _open_files(self):
        if self._shares_memory and not self._elastic and self._mpi.COMM_WORLD.size > 1:
            with contextlib.suppress(OSError):
                return MemoryFiles("mxcy messages", _BLOCK_BYTES)
        return None

    def _open_blocks(self, files, processes):
        """Share blocks with all other processes of this machine that allow it; collective."""
        _, host, (space, _), _ = processes[self.place]
        opened = []
        for place, (_, its_host, (its_space, _), path) in enumerate(processes):
            near = its_host == host and its_space == space != ""
            if files and path and near and place != self.place:
                with contextlib.suppress(OSError):
                    files.attach(place, path)
                    opened.append(place)
        lists = self._world.allgather(opened)
        readers = [place for place in opened if self.place in lists[place]]
        if readers:
            self.bells = Bells(readers, files.map)
            self.blocks = SharedBlocks(readers, files.map)
        elif files:
            files.close()

    def _open_segments(self):
        """Share memory with the other ranks, if all are on one machine; collective."""
        if self._segments is not None:
            self._segments.close()
        segments, self._segments = None, None
        spaces = {space for space, _ in self.processes}
        apart = len(set(self.hosts)) > 1 or len(spaces) > 1 or "" in spaces
        if self.size == 1 or apart or self._elastic:
            return
        if self._shares_memory:
            with contextlib.suppress(OSError):
                segments = Segments()
        paths = self._comm.allgather(segments and segments.path)
        attached = None not in paths
        if attached:
            try:
                segments.attach(paths)
            except OSError:
                attached = False
        if all(self._comm.allgather(attached)):
            self._segments = segments
        elif segments is not None:
            segments.close()

    def new_channel(self):
        """Create a channel, on which collectives match in order; collective."""
        channel = Channel(self._mpi, self._comm.Dup(), len(self.channels), self._segments)
        if self.levels is not None:
            machine, number = self.levels
            channel.inside = Channel(self._mpi, self._comm.Split(machine, number))
            channel.between = Channel(self._mpi, self._comm.Split(number, machine))
        self.channels.append(channel)
        return channel

    def control(self):
        """The channel for collectives outside of buckets."""
        return Channel(self._mpi, self._comm)

    # -- control messages: small, between processes of one role

    def send_control(self, rank, content):
        """Send bytes to a rank, without blocking."""
        if self._broken is None:
            self._sent = [request for request in self._sent if not request.Test()]
        octets = bytearray(content)
        try:
            self._sent.append(self._control_comm.Isend([octets, self._mpi.BYTE], rank, _CONTROL))
        except self._mpi.Exception as error:
            self._broken = error  # raised by `receive_control`, where failures are handled

    def receive_control(self):
        """The next control message that has arrived, as (sender's rank, bytes), or None."""
        mpi, status = self._mpi, self._mpi.Status()
        if self._broken is not None:
            raise self._broken
        if not self._control_comm.Iprobe(mpi.ANY_SOURCE, _CONTROL, status):
            return None
        octets = bytearray(status.Get_count(mpi.BYTE))
        self._control_comm.Recv([octets, mpi.BYTE], status.source, _CONTROL)
        return status.source, bytes(octets)

    # -- messages: a head and an array, between processes of any role ------------------------------

    def send_message(self, place, head, body=None, given=False):
        """Send a message to a process of any role.

        Parameters
        ----------
        place : int
        head : bytes
        body : numpy.ndarray or SharedBlock, optional
            An array is contiguous and must not change until the request is done. A block must not
            change as long as anything refers to it.
        given : bool
            Whether it never changes: this process, if it is the receiver, gets it without a copy.

        Returns
        -------
        request
        """
        mpi = self._mpi
        if place == self.place:
            self._to_self.append((place, head, _received(body, given)))
            return Requests([], None)
        loan = None
        if isinstance(body, SharedBlock):
            loan = body.lend() if place in self.blocks.readers else None
            start, body = body.start, body.array()
        length = 0 if body is None else body.nbytes
        prefix = _PREFIX.pack(length, *((-1, -1) if loan is None else (start, loan)))
        octets = bytearray(prefix + head)
        requests = [self._message_comm.Isend([octets, mpi.BYTE], place, _HEAD)]
        if self.bells is not None:
            self.bells.ring(place)
        if length and loan is None:
            content = body.reshape(-1).view(np.uint8)
            requests.append(self._message_comm.Isend([content, mpi.BYTE], place, _BODY))
        return Requests(requests, octets)

    def receive_message(self, memory_of=None):
        """The next complete message, or None; messages of one sender keep their order.

        Parameters
        ----------
        memory_of : callable, optional
            ``memory_of(head, length)`` returns memory for the body of a message that begins to
            arrive, or None.

        Returns
        -------
        tuple of (int, bytes, numpy.ndarray of uint8) or None
            The sender's place, head and body.
        """
        if self._to_self:
            return self._to_self.popleft()
        self._take_heads(memory_of)
        for place, messages in self._incoming.items():
            if messages and (messages[0][2] is None or messages[0][2].Test()):
                head, body, _ = messages.popleft()
                return place, head, body
        return None

    def receiving(self):
        """Whether bodies of messages are still arriving."""
        return any(messages and messages[0][2] is not None for messages in self._incoming.values())

    def _take_heads(self, memory_of):
        mpi, status = self._mpi, self._mpi.Status()
        probe = self._message_comm.Improbe
        while sum(map(len, self._incoming.values())) < _MOST_BODIES:
            message = probe(mpi.ANY_SOURCE, _HEAD, status)
            if message is None:  # MPI may look for arrivals only after it has answered
                message = probe(mpi.ANY_SOURCE, _HEAD, status)
            if message is None:
                return
            octets = bytearray(status.Get_count(mpi.BYTE))
            message.Recv([octets, mpi.BYTE])
            head = bytes(octets[_PREFIX.size :])
            length, start, loan = _PREFIX.unpack_from(octets)
            request = None
            if loan >= 0:
                body = self.blocks.borrow(status.source, start, length, loan)
            else:
                body = memory_of(head, length) if memory_of is not None else None
                body = take(length) if body is None else body
                if length:
                    request = self._message_comm.Irecv([body, mpi.BYTE], status.source, _BODY)
            messages = self._incoming.setdefault(status.source, deque())
            messages.append((head, body, request))

    # -- failures and growth -----------------------------------------------------------------------

    def is_peer_failure(self, error):
        """Whether an error reports the death of another process that the job can survive."""
        mpi = self._mpi
        if not isinstance(error, mpi.Exception) or "Open MPI" not in self.engine:
            return False
        if error.Get_error_class() in (
            mpi.ERR_PROC_FAILED,
            mpi.ERR_PROC_FAILED_PENDING,
            mpi.ERR_REVOKED,
        ):
            return True
        # A collective that begins its next step after a failure ends with an unspecific error.
        return self._world.Get_failed().size > 0 or any(c.Is_revoked() for c in self._comms())

    def _comms(self):
        channels = [channel.comm for channel in self.channels]
        return [self._comm, self._control_comm, self._message_comm, *channels, self._world]

    def shrink(self):
        """Continue without dead processes; all survivors call this.

        Returns
        -------
        list of int
            The former ranks of the survivors.
        """
        former = self.rank
        self._aborted += self._sent  # MPI may still read these buffers
        self._sent, self._broken = [], None
        for comm in self._comms():
            comm.Revoke()
        counts, formers = self._rebuild(self._world.Shrink(), former)
        for channel in self.channels[: min(counts)]:
            channel.comm = self._comm.Dup()
        return formers

    def grow(self, line, count):
        """Start `count` more workers with a command line and continue with them; collective.

        No communication may be in flight.
        """
        mpi = self._mpi
        info = mpi.Info.Create({"wdir": os.getcwd()})
        self._rebuild(self._world.Spawn(line[0], line[1:], count, info).Merge(False))
        self.levels = None
        for channel in self.channels:
            channel.replace(self._comm.Dup(), self._segments)

    def _rebuild(self, world, former=0):
        """Switch to a new communicator; return channel counts and former ranks of all processes."""
        if self._elastic:  # MPI_Finalize would wait for dead processes
            self._owned = False
        world.Set_errhandler(self._mpi.ERRORS_RETURN)
        self._world = world
        self._comm, self._control_comm, self._message_comm = (world.Dup(), world.Dup(), world.Dup())
        rows = world.allgather([former, socket.gethostname(), identity(), len(self.channels)])
        formers, hosts, processes, counts = (list(column) for column in zip(*rows, strict=True))
        self.rank = self.place = world.rank
        self.size, self.hosts, self.processes, self.machines = (world.size, hosts, processes, hosts)
        self.roles = ["worker"] * self.size
        self._open_segments()
        return counts, formers

    def allgather(self, value):
        """The values of all ranks, by rank; blocks."""
        return self._comm.allgather(value)

    def broadcast_from(self, root, value):
        """The value of rank `root`; blocks."""
        return self._comm.bcast(value, root)

    # -- shutdown ----------------------------------------------------------------------------------

    def left_behind(self):
        """Paths of this machine's memory that MPI does not free if its processes are killed."""
        with contextlib.suppress(OSError), open("/proc/self/maps", encoding="utf-8") as file:
            mapped = {line.rpartition(" ")[2].strip() for line in file}
            return sorted(path for path in mapped if path.startswith(_MPI_MEMORY))
        return []

    def begin_barrier(self):
        """Start a barrier of all processes of the job, of every role; return its request."""
        return Request(self._world.Ibarrier())

    def finalize(self):
        """Finalize MPI; all processes must do so."""
        if self._owned and not self._mpi.Is_finalized():
            self._mpi.Finalize()


def _received(body, given):
    """The body of a message to this process, as the receiver gets it."""
    if body is None:
        return np.empty(0, np.uint8)
    if isinstance(body, SharedBlock):
        return body.array()
    content = body.reshape(-1).view(np.uint8)
    if given:
        return content
    copy = take(content.size)
    np.copyto(copy, content)
    return copy


def _open():
    """Initialize MPI; return mpi4py.MPI and whether it is ours to finalize."""
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
