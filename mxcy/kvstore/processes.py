"""The processes of a job, and calls that combine arrays of all of them by name.

The functions are those of ``horovod.mxnet``; `mxcy.horovod` offers them with what trains on top.
"""

import itertools
import pickle

import numpy as np

from mxcy import ndarray as nd
from mxcy._base.dtypes import NAMES, code_of
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.context import cpu
from mxcy.dist.job import job
from mxcy.dist.shutdown import before_close
from mxcy.dist.worlds import collectives
from mxcy.kvstore.engine_calls import TRAVELS, operation, window

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
    """Whether this process has joined, and the numbers of its calls without a name."""

    def __init__(self):
        self.progress = None
        self.numbers = {}

    @property
    def world(self):
        if self.progress is None:
            raise ValueError("the processes have not been initialized; call init() first")
        return self.progress.world

    def name_of(self, kind, name):
        """The name of a call: the user's, or the number of the call among those of its kind."""
        self.world  # noqa: B018  initialized?
        if name is not None:
            return f"{kind} {name}"
        return f"{kind} number {next(self.numbers.setdefault(kind, itertools.count()))}"


_member = _Membership()


def init():
    """Join the job: this process alone, unless MPI has started it."""
    if _member.progress is None:
        progress = job.open()
        progress.call(progress.named_calls.open(), "init()")
        before_close(front.wait_all)
        _member.progress = progress


def shutdown():
    """Wait for what has been called; the job itself ends with the program."""
    nd.waitall()
    _member.progress = None


def is_initialized():
    """Whether `init` has been called."""
    return _member.progress is not None


def rank():
    """The number of this process."""
    return _member.world.rank


def size():
    """How many processes there are."""
    return _member.world.size


def _here():
    """The ranks on this machine, and all machines in the order of their first ranks."""
    hosts = _member.world.hosts
    mine = hosts[_member.world.rank]
    return [i for i, host in enumerate(hosts) if host == mine], list(dict.fromkeys(hosts)), mine


def local_rank():
    """The number of this process among those on its machine."""
    return _here()[0].index(rank())


def local_size():
    """How many processes there are on this machine."""
    return len(_here()[0])


def cross_rank():
    """The number of this process's machine."""
    _, machines, mine = _here()
    return machines.index(mine)


def cross_size():
    """How many machines there are."""
    return len(_here()[1])


def is_homogeneous():
    """Whether there are equally many processes on all machines."""
    hosts = _member.world.hosts
    return len({hosts.count(host) for host in hosts}) == 1


# -- calls ----------------------------------------------------------------------------------------


def _alike(name, terms):
    """Refuse calls that do not go together."""
    for number, other in enumerate(terms):
        if other != terms[0]:
            raise MXNetError(f"{name}: rank 0 has {terms[0]}, rank {number} {other}")


def _call(name, terms, reads, writes, make_steps, priority=0):
    """Push an operation that is done when all processes have made the call."""

    def start(completion):
        def done(error, value):
            completion(error) if error else completion()

        _member.progress.named_calls.call(name, terms, make_steps, done)

    operation(start, reads, writes, name, "async", priority)


def _terms(array):
    return [list(array.shape), NAMES[code_of(array.dtype)]]


def _travelling(tensor, factor=1.0):
    """A tensor in the type in which it travels, times a factor."""
    name = NAMES[code_of(tensor.dtype)]
    array = tensor.as_nd_ndarray()
    array = array if name not in TRAVELS else array.astype(TRAVELS[name])
    return array if factor == 1.0 else array * factor


def _reduced(tensor, average, name, priority, prescale, postscale):
    """The sum of a tensor over all processes, in the type in which it travels."""
    name = _member.name_of("allreduce", name)
    source = _travelling(tensor, prescale)
    target = nd.empty(source.shape, cpu(), source.dtype)

    def make_steps(channel, terms):
        _alike(name, terms)
        yield channel.all_reduce(window(source).numpy_view(), window(target).numpy_view())

    _call(name, _terms(tensor), [source], [target], make_steps, priority)
    whole = np.dtype(target.dtype).kind in "iu"
    if average and whole:
        target = nd.floor(target.astype("float64") / size())
    factor = postscale / (size() if average and not whole else 1)
    return target if factor == 1.0 else target * factor


def allreduce(
    tensor, average=True, name=None, priority=0, prescale_factor=1.0, postscale_factor=1.0
):
    """Add up a tensor over all processes, or average it.

    Parameters
    ----------
    tensor : NDArray
        Of the same shape and type everywhere.
    average : bool
        Divide the sum by the number of processes.
    name : str, optional
        By which the processes' calls meet; default: the number of the call.
    priority : int
        Operations with larger numbers run first.
    prescale_factor, postscale_factor : float
        What the tensor and the result are multiplied by.

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
    """Replace a tensor by that of one process.

    Parameters
    ----------
    tensor : NDArray
    root_rank : int
        Whose.
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
        raise MXNetError(f"{name}: there is no rank {root_rank}, but 0 to {size() - 1}")
    own = window(tensor)

    def make_steps(channel, terms):
        _alike(name, terms)
        yield channel.broadcast(own.numpy_view().reshape(-1).view(np.uint8), root_rank)

    _call(name, [*_terms(tensor), root_rank], [], [tensor], make_steps, priority)
    tensor.touch()
    return tensor


def broadcast(tensor, root_rank, name=None, priority=0):
    """A copy of one process's tensor; see `broadcast_`."""
    return broadcast_(tensor.copy(), root_rank, name, priority)


def _wait_for(name, terms, reads, make_steps):
    """Make a call, and wait for what its generator returns."""
    over, values = front.Var(), []

    def keeping(channel, all_terms):
        values.append((yield from make_steps(channel, all_terms)))

    _call(name, terms, reads, [over], keeping)
    over.wait_to_read()
    return values[0]


def allgather(tensor, name=None, priority=0):
    """All processes' tensors one after the other.

    Parameters
    ----------
    tensor : NDArray
        Its first dimension may differ between processes.
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
    """Deal the rows of a tensor to all processes, and take theirs.

    Parameters
    ----------
    tensor : NDArray
    splits : NDArray or sequence of int, optional
        How many rows go to each process; default: equally many.
    name : str, optional
    priority : int
        See `allreduce`.

    Returns
    -------
    NDArray
        The rows from rank 0 first.
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
    """One process's object, as a copy in all.

    Parameters
    ----------
    obj : object
        What can be pickled; of the process `root_rank`.
    root_rank : int
    name : str, optional

    Returns
    -------
    object
    """
    return allgather_object(obj if rank() == root_rank else None, name)[root_rank]


def allgather_object(obj, name=None):
    """All processes' objects, as copies.

    Parameters
    ----------
    obj : object
        What can be pickled.
    name : str, optional

    Returns
    -------
    list of object
        By rank.
    """
    name = _member.name_of("object", name)
    content = np.frombuffer(pickle.dumps(obj), np.uint8)

    def make_steps(channel, terms):
        together = np.empty(sum(terms), np.uint8)
        yield channel.all_gather_v(content, together, terms)
        return collectives.parts(together, terms)

    return [pickle.loads(part.tobytes()) for part in _wait_for(name, content.size, [], make_steps)]
