"""Collective operations over the processes of a job, matched by name.

The functions are those of ``horovod.mxnet``, which `mxcy.horovod` exports with its trainers.
"""

import itertools
import pickle

import numpy as np

from mxcy import ndarray as nd
from mxcy._base.dtypes import NAMES, code_of
from mxcy._execute.overlap import overlap
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.context import cpu
from mxcy.dist.job import job
from mxcy.dist.shutdown import before_close
from mxcy.dist.worlds import collectives
from mxcy.kvstore.engine_calls import SUM_DTYPES, operation, window

__all__ = [
    "allgather",
    "allgather_object",
    "allreduce",
    "allreduce_",
    "alltoall",
    "broadcast",
    "broadcast_",
    "broadcast_object",
    "cross_rank",
    "cross_size",
    "grouped_allreduce",
    "grouped_allreduce_",
    "init",
    "is_homogeneous",
    "is_initialized",
    "local_rank",
    "local_size",
    "rank",
    "shutdown",
    "size",
]


class _Membership:
    """State of this process: whether it is initialized, and counters of unnamed calls."""

    def __init__(self):
        self.progress = None
        self.numbers = {}

    @property
    def world(self):
        if self.progress is None:
            raise ValueError("the processes have not been initialized; call init() first")
        return self.progress.world

    def name_of(self, kind, name):
        """The name of a call: the user's, or the type and number of the call."""
        self.world  # noqa: B018  initialized?
        if name is not None:
            return f"{kind} {name}"
        return f"{kind} number {next(self.numbers.setdefault(kind, itertools.count()))}"


_member = _Membership()


def init():
    """Join the job, which is this process alone unless started by MPI."""
    if _member.progress is None:
        progress = job.open()
        overlap.in_use = True
        progress.call(progress.named_calls.open(), "init()")
        before_close(front.wait_all)
        _member.progress = progress


def shutdown():
    """Wait for pending calls; the job itself ends with the program."""
    nd.waitall()
    _member.progress = None


def is_initialized():
    """Return whether `init` has been called."""
    return _member.progress is not None


def rank():
    """Return the rank of this process."""
    return _member.world.rank


def size():
    """Return the number of processes."""
    return _member.world.size


def _here():
    """The ranks on this machine, and all machines ordered by their first rank."""
    hosts = _member.world.hosts
    this_host = hosts[_member.world.rank]
    return (
        [i for i, host in enumerate(hosts) if host == this_host],
        list(dict.fromkeys(hosts)),
        this_host,
    )


def local_rank():
    """Return the rank of this process on its machine."""
    return _here()[0].index(rank())


def local_size():
    """Return the number of processes on this machine."""
    return len(_here()[0])


def cross_rank():
    """Return the index of this process's machine."""
    _, machines, this_host = _here()
    return machines.index(this_host)


def cross_size():
    """Return the number of machines."""
    return len(_here()[1])


def is_homogeneous():
    """Return whether all machines have the same number of processes."""
    hosts = _member.world.hosts
    return len({hosts.count(host) for host in hosts}) == 1


# -- collectives-----------------------------------------------------------------------------------


def _alike(name, terms):
    """Check that the processes' calls match."""
    for number, other in enumerate(terms):
        if other != terms[0]:
            raise MXNetError(f"{name}: rank 0 has {terms[0]}, rank {number} {other}")


def _call(name, terms, reads, writes, make_steps, priority=0):
    """Push an operation that completes when all processes have made the call."""

    def start(completion):
        def done(error, value):
            completion(error) if error else completion()

        _member.progress.named_calls.call(name, terms, make_steps, done)

    operation(start, reads, writes, name, "async", priority)


def _terms(array):
    return [list(array.shape), NAMES[code_of(array.dtype)]]


def _travelling(tensor, factor=1.0):
    """Scale a tensor and convert it to the dtype of sums."""
    name = NAMES[code_of(tensor.dtype)]
    array = tensor.as_nd_ndarray().detach()  # the next backward may replace a gradient's memory
    array = array if name not in SUM_DTYPES else array.astype(SUM_DTYPES[name])
    return array if factor == 1.0 else array * factor


def _reduced(tensor, average, name, priority, prescale, postscale):
    """Sum a tensor over all processes, in the dtype of sums."""
    name = _member.name_of("allreduce", name)
    source = _travelling(tensor, prescale)
    target = nd.empty(source.shape, cpu(), source.dtype)

    def make_steps(channel, terms):
        _alike(name, terms)
        yield channel.all_reduce(window(source).numpy_view(), window(target).numpy_view())

    _call(name, _terms(tensor), [source], [target], make_steps, priority)
    integral = np.dtype(target.dtype).kind in "iu"
    if average and integral:
        target = nd.floor(target.astype("float64") / size())
    factor = postscale / (size() if average and not integral else 1)
    return target if factor == 1.0 else target * factor


def allreduce(
    tensor, average=True, name=None, priority=0, prescale_factor=1.0, postscale_factor=1.0
):
    """Sum or average a tensor over all processes.

    Parameters
    ----------
    tensor : NDArray
        Tensor of the same shape and dtype in all processes.
    average : bool
        Divide the sum by the number of processes.
    name : str, optional
        Name that matches the processes' calls; default: the number of the call.
    priority : int
        Operations with higher priority run first.
    prescale_factor, postscale_factor : float
        Factors of the tensor and of the result.

    Returns
    -------
    NDArray
    """
    total = _reduced(tensor, average, name, priority, prescale_factor, postscale_factor)
    return total.astype(tensor.dtype)


def allreduce_(
    tensor, average=True, name=None, priority=0, prescale_factor=1.0, postscale_factor=1.0
):
    """Replace a tensor by its sum or average over all processes; see `allreduce`."""
    total = _reduced(tensor, average, name, priority, prescale_factor, postscale_factor)
    total.astype(tensor.dtype).copyto(tensor)
    return tensor


def _names(tensors, name):
    return [None if name is None else f"{name}.{i}" for i in range(len(tensors))]


def grouped_allreduce(
    tensors, average=True, name=None, priority=0, prescale_factor=1.0, postscale_factor=1.0
):
    """`allreduce` of several tensors."""
    settings = (priority, prescale_factor, postscale_factor)
    return [
        allreduce(tensor, average, own, *settings)
        for tensor, own in zip(tensors, _names(tensors, name), strict=True)
    ]


def grouped_allreduce_(
    tensors, average=True, name=None, priority=0, prescale_factor=1.0, postscale_factor=1.0
):
    """`allreduce_` of several tensors."""
    settings = (priority, prescale_factor, postscale_factor)
    for tensor, own in zip(tensors, _names(tensors, name), strict=True):
        allreduce_(tensor, average, own, *settings)
    return tensors


def broadcast_(tensor, root_rank, name=None, priority=0):
    """Broadcast a tensor from one process, in place.

    Parameters
    ----------
    tensor : NDArray
    root_rank : int
        Rank of the source.
    name : str, optional
    priority : int
        See `allreduce`.

    Returns
    -------
    NDArray
        The tensor.
    """
    name = _member.name_of("broadcast", name)
    if not 0 <= root_rank < size():
        raise MXNetError(f"{name}: root_rank must be from 0 to {size() - 1}, got {root_rank}")
    own = window(tensor.detach())

    def make_steps(channel, terms):
        _alike(name, terms)
        yield channel.broadcast(own.numpy_view().reshape(-1).view(np.uint8), root_rank)

    _call(name, [*_terms(tensor), root_rank], [], [tensor], make_steps, priority)
    tensor.touch()
    return tensor


def broadcast(tensor, root_rank, name=None, priority=0):
    """Return a copy of one process's tensor; see `broadcast_`."""
    return broadcast_(tensor.copy(), root_rank, name, priority)


def _wait_for(name, terms, reads, make_steps):
    """Make a call and wait for the result of its generator."""
    over, values = front.Var(), []

    def keeping(channel, all_terms):
        values.append((yield from make_steps(channel, all_terms)))

    _call(name, terms, reads, [over], keeping)
    over.wait_to_read()
    return values[0]


def allgather(tensor, name=None, priority=0):
    """Concatenate the tensors of all processes.

    Parameters
    ----------
    tensor : NDArray
        Tensor, whose first dimension may differ between processes.
    name : str, optional
    priority : int
        See `allreduce`.

    Returns
    -------
    NDArray
    """
    name = _member.name_of("allgather", name)
    tensor.wait_to_read()
    content = tensor.as_nd_ndarray().asnumpy()

    def make_steps(channel, terms):
        _alike(name, [[shape[1:], dtype] for shape, dtype in terms])
        rows = sum(shape[0] for shape, _ in terms)
        together = np.empty(rows * content[:1].size, content.dtype)
        lengths = [int(np.prod(shape)) for shape, _ in terms]
        yield channel.all_gather_v(content.reshape(-1), together, lengths)
        return together.reshape(rows, *content.shape[1:])

    result = _wait_for(name, _terms(tensor), [], make_steps)
    return nd.array(result, dtype=tensor.dtype)


def alltoall(tensor, splits=None, name=None, priority=0):
    """Send rows of a tensor to every process, and receive theirs.

    Parameters
    ----------
    tensor : NDArray
    splits : NDArray or sequence of int, optional
        Number of rows for each process; equal by default.
    name : str, optional
    priority : int
        See `allreduce`.

    Returns
    -------
    NDArray
        The received rows, ordered by rank.
    """
    name = _member.name_of("alltoall", name)
    content = tensor.as_nd_ndarray().asnumpy()
    if splits is None:
        if len(content) % size():
            raise MXNetError(f"{name}: {len(content)} rows cannot be dealt to {size()} equally")
        counts = [len(content) // size()] * size()
    else:
        counts = splits.asnumpy() if hasattr(splits, "asnumpy") else splits
        counts = [int(count) for count in counts]
    if len(counts) != size() or sum(counts) != len(content) or min(counts) < 0:
        raise MXNetError(f"{name}: splits {counts} do not deal {len(content)} rows to {size()}")

    def make_steps(channel, terms):
        _alike(name, [[shape[1:], dtype] for (shape, dtype), _ in terms])
        taken = [sent[rank()] for _, sent in terms]
        row = content[:1].size if len(content) else int(np.prod(content.shape[1:]))
        together = np.empty(sum(taken) * row, content.dtype)
        sent = [count * row for count in counts]
        yield channel.all_to_all_v(
            content.reshape(-1), sent, together, [count * row for count in taken]
        )
        return together.reshape(sum(taken), *content.shape[1:])

    result = _wait_for(name, [_terms(tensor), counts], [], make_steps)
    return nd.array(result, dtype=tensor.dtype)


def broadcast_object(obj, root_rank=0, name=None):
    """Broadcast an object from one process.

    Parameters
    ----------
    obj : object
        Picklable object of process `root_rank`.
    root_rank : int
    name : str, optional

    Returns
    -------
    object
    """
    return allgather_object(obj if rank() == root_rank else None, name)[root_rank]


def allgather_object(obj, name=None):
    """Gather the objects of all processes.

    Parameters
    ----------
    obj : object
        Picklable object.
    name : str, optional

    Returns
    -------
    list of object
        The objects, ordered by rank.
    """
    name = _member.name_of("object", name)
    content = np.frombuffer(pickle.dumps(obj), np.uint8)

    def make_steps(channel, terms):
        together = np.empty(sum(terms), np.uint8)
        yield channel.all_gather_v(content, together, terms)
        return collectives.parts(together, terms)

    return [pickle.loads(part.tobytes()) for part in _wait_for(name, content.size, [], make_steps)]
