"""The parts of MXNet's first loader, for loaders of other libraries that are made of them.

Queues, the loops of worker and fetcher, and how arrays go through shared memory.
"""

import contextlib
import math
import multiprocessing
import multiprocessing.queues
import os
from multiprocessing import reduction

from mxcy._base import dtypes
from mxcy._library import front
from mxcy.context import cpu, cpu_pinned, cpu_shared
from mxcy.gluon.data.pool_batches import _as_in_context
from mxcy.ndarray._exchange import sharing
from mxcy.ndarray.ndarray import NDArray

__all__ = [
    "ConnectionWrapper",
    "Queue",
    "SimpleQueue",
    "fetcher_loop_v1",
    "rebuild_ndarray",
    "reduce_ndarray",
    "worker_loop_v1",
]


class ConnectionWrapper:
    """One end of a pipe; arrays are sent in shared memory, as through any other connection.

    Parameters
    ----------
    conn : multiprocessing.connection.Connection
    """

    def __init__(self, conn):
        self._conn = conn

    def send(self, obj):
        """Send an object."""
        self._conn.send(obj)

    def recv(self):
        """Receive an object."""
        return self._conn.recv()

    def __getattr__(self, name):
        if name == "_conn":  # an instance that is being unpickled has none yet
            raise AttributeError(name)
        return getattr(self._conn, name)


class Queue(multiprocessing.queues.Queue):
    """`multiprocessing.Queue`."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, ctx=multiprocessing.get_context(), **kwargs)


class SimpleQueue(multiprocessing.queues.SimpleQueue):
    """`multiprocessing.SimpleQueue`."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, ctx=multiprocessing.get_context(), **kwargs)


def worker_loop_v1(dataset, key_queue, data_queue, batchify_fn):
    """Load batches until told to end.

    Parameters
    ----------
    dataset : Dataset
    key_queue : queue
        Gives ``(number, indices)`` of batches; a number of None ends the loop.
    data_queue : queue
        Takes ``(number, batch)``.
    batchify_fn : callable
    """
    while True:
        number, indices = key_queue.get()
        if number is None:
            return
        data_queue.put((number, batchify_fn([dataset[i] for i in indices])))


def fetcher_loop_v1(
    data_queue, data_buffer, pin_memory=False, pin_device_id=0, data_buffer_lock=None
):
    """Collect loaded batches until told to end.

    Parameters
    ----------
    data_queue : queue
        Gives ``(number, batch)``; a number of None ends the loop.
    data_buffer : dict
        Gets the batches by number, on the CPU.
    pin_memory : bool
        Put them into memory from which copies to a GPU are fast.
    pin_device_id : int
        The GPU that this memory is for.
    data_buffer_lock : lock, optional
        Held while the dict is changed.
    """
    context = cpu_pinned(pin_device_id) if pin_memory else cpu()
    while True:
        number, batch = data_queue.get()
        if number is None:
            return
        batch = _as_in_context(batch, context)
        with data_buffer_lock or contextlib.nullcontext():
            data_buffer[number] = batch


def reduce_ndarray(data):
    """What a process sends of an array: `rebuild_ndarray` and what that needs.

    Parameters
    ----------
    data : NDArray
        Copied unless it fills a piece of shared memory.
    """
    data.wait_to_read()
    segment = sharing.segment_of(data)
    if segment is None or data.address != segment.address:
        shared = front.empty(data.shape, data.dtype_code, cpu_shared())
        shared.numpy_view()[...] = data.numpy_view()
        data, segment = shared, sharing.segment_of(shared)
    data.export()
    descriptor = reduction.DupFd(segment.fd)
    return rebuild_ndarray, (os.getpid(), descriptor, data.shape, data.dtype_code)


def rebuild_ndarray(pid, fd, shape, dtype):
    """The array that another process sent.

    Parameters
    ----------
    pid : int
        The process.
    fd : object
        ``fd.detach()`` gives the descriptor of the shared memory.
    shape : tuple of int
    dtype : int
        The element type's code.

    Returns
    -------
    NDArray
        On ``cpu_shared(0)``.
    """
    size = math.prod(shape) * dtypes.dtype_of(dtype).itemsize
    return sharing.rebuild(NDArray, fd, size, 0, tuple(shape), dtype)
