"""Components of MXNet's first data loader, for other libraries that import them.

Queues, the worker and fetcher loops, and the transfer of arrays through shared memory.
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
    """One end of a pipe; arrays are sent in shared memory.

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
        if name == "_conn":  # missing while an instance is unpickled
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
    """Load batches until a stop signal.

    Parameters
    ----------
    dataset : Dataset
    key_queue : queue
        Source of ``(number, indices)``; a number of None ends the loop.
    data_queue : queue
        Receives ``(number, batch)``.
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
    """Collect loaded batches until a stop signal.

    Parameters
    ----------
    data_queue : queue
        Source of ``(number, batch)``; a number of None ends the loop.
    data_buffer : dict
        Filled with the batches by number, on the CPU.
    pin_memory : bool
        Copy them to pinned memory, for fast copies to a GPU.
    pin_device_id : int
        Id of that GPU.
    data_buffer_lock : lock, optional
        Protects the dict.
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
    """Reduce an array for pickling: `rebuild_ndarray` and its arguments.

    Parameters
    ----------
    data : NDArray
        Copied unless it occupies a whole shared-memory segment.
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
    """Rebuild an array sent by another process.

    Parameters
    ----------
    pid : int
        Id of the process.
    fd : object
        ``fd.detach()`` gives the descriptor of the shared memory.
    shape : tuple of int
    dtype : int
        Dtype code.

    Returns
    -------
    NDArray
        On ``cpu_shared(0)``.
    """
    size = math.prod(shape) * dtypes.dtype_of(dtype).itemsize
    return sharing.rebuild(NDArray, fd, size, 0, tuple(shape), dtype)
