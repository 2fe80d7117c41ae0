"""Batches from a `multiprocessing.Pool`, as a base for loaders of other libraries."""

import multiprocessing
import pickle
from multiprocessing.reduction import ForkingPickler

from mxcy import util
from mxcy.context import cpu_pinned
from mxcy.gluon.data.thread_pool import WorkerTimeout
from mxcy.ndarray import NDArray

__all__ = ["PoolBatches"]

_STATE = {}  # in a pool's process: {"dataset": the data set}


def _worker_initializer(dataset, active_shape, active_array):
    """Initialize a process of a pool.

    Parameters
    ----------
    dataset : Dataset
        Data set read by `_worker_fn`.
    active_shape, active_array : bool
        NumPy semantics of the process.
    """
    _STATE["dataset"] = dataset
    util.set_np(shape=active_shape, array=active_array)


def _thread_worker_initializer(active_shape, active_array):
    """Initialize a thread of a pool; see `_worker_initializer`."""
    util.set_np(shape=active_shape, array=active_array)


def _worker_fn(samples, batchify_fn, dataset=None):
    """Load the batch of these indices in a process of a pool, and pickle it."""
    batch = batchify_fn([_STATE["dataset"][i] for i in samples])
    return bytes(ForkingPickler.dumps(batch, pickle.HIGHEST_PROTOCOL))


def _thread_worker_fn(samples, batchify_fn, dataset):
    """Load a batch in a thread of a pool."""
    return batchify_fn([dataset[i] for i in samples])


class PoolBatches:
    """The batches of one epoch, loaded by a user-provided pool.

    Other libraries subclass it under MXNet's name `_MultiWorkerIter` and use its attributes;
    `DataLoader` itself does not use it.

    Parameters
    ----------
    worker_pool : multiprocessing.pool.Pool
    batchify_fn : callable
    batch_sampler : Sampler
        Source of the indices of each batch.
    pin_memory, pin_device_id
        Whether to copy batches to `cpu_pinned(pin_device_id)`.
    worker_fn : callable
        ``worker_fn(indices, batchify_fn, dataset)`` returns a batch, pickled if `dataset` is
        None.
    prefetch : int
        Number of batches loaded ahead.
    dataset : Dataset, optional
        Data set, for pools of threads.
    data_loader : object
        Kept alive.
    timeout : float
        Seconds to wait for a batch.
    """

    def __init__(
        self,
        worker_pool,
        batchify_fn,
        batch_sampler,
        pin_memory=False,
        pin_device_id=0,
        worker_fn=_worker_fn,
        prefetch=0,
        dataset=None,
        data_loader=None,
        timeout=120,
    ):
        self._worker_pool, self._worker_fn = worker_pool, worker_fn
        self._batchify_fn, self._batch_sampler = batchify_fn, batch_sampler
        self._pin_memory, self._pin_device_id = pin_memory, pin_device_id
        self._dataset, self._data_loader, self._timeout = dataset, data_loader, timeout
        self._data_buffer = {}
        self._rcvd_idx = self._sent_idx = 0
        self._iter = iter(batch_sampler)
        for _ in range(prefetch):
            self._push_next()

    def __len__(self):
        return len(self._batch_sampler)

    def _push_next(self):
        """Request one more batch."""
        indices = next(self._iter, None)
        if indices is None:
            return
        self._data_buffer[self._sent_idx] = self._worker_pool.apply_async(
            self._worker_fn, (indices, self._batchify_fn, self._dataset)
        )
        self._sent_idx += 1

    def __iter__(self):
        return self

    def __next__(self):
        """Return the next batch and request another from the pool."""
        self._push_next()
        if self._rcvd_idx == self._sent_idx:
            assert not self._data_buffer, "batches are left over"
            raise StopIteration
        try:
            batch = self._data_buffer.pop(self._rcvd_idx).get(self._timeout)
        except multiprocessing.TimeoutError as error:
            raise WorkerTimeout(self._timeout) from error
        except Exception:
            self._worker_pool.terminate()
            raise
        if self._dataset is None:  # pickled by another process
            batch = pickle.loads(batch)
        self._rcvd_idx += 1
        return _as_in_context(batch, cpu_pinned(self._pin_device_id)) if self._pin_memory else batch

    next = __next__


def _as_in_context(batch, context):
    if isinstance(batch, NDArray):
        return batch.as_in_context(context)
    if isinstance(batch, (list, tuple)):
        return [_as_in_context(part, context) for part in batch]
    return batch
