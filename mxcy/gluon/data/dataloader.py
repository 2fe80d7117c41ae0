"""Data loaders, optionally with worker processes or threads."""

import numbers
from multiprocessing.reduction import ForkingPickler  # noqa: F401

import numpy as np

from mxcy import ndarray as nd
from mxcy import util
from mxcy._base.listing import listing
from mxcy.context import cpu_pinned, cpu_shared
from mxcy.gluon.data import sampler as _sampler  # noqa: F401
from mxcy.gluon.data.pool_batches import (  # noqa: F401
    PoolBatches,
    _as_in_context,
    _thread_worker_fn,
    _thread_worker_initializer,
    _worker_fn,
    _worker_initializer,
)
from mxcy.gluon.data.pool_batches import PoolBatches as _MultiWorkerIter  # noqa: F401
from mxcy.gluon.data.process_pool import Batches, ProcessPool
from mxcy.gluon.data.queues import (
    ConnectionWrapper,
    Queue,
    SimpleQueue,
    fetcher_loop_v1,
    rebuild_ndarray,
    reduce_ndarray,
    worker_loop_v1,
)
from mxcy.gluon.data.sampler import BatchSampler, RandomSampler, SequentialSampler
from mxcy.gluon.data.thread_pool import OrderedResults, ThreadPool
from mxcy.gluon.data.worker import semantics
from mxcy.gluon.utils import in_numpy
from mxcy.ndarray import NDArray
from mxcy.ndarray._exchange import sharing

__all__ = [
    "ConnectionWrapper",
    "DataLoader",
    "DataLoaderV1",
    "Queue",
    "SimpleQueue",
    "default_batchify_fn",
    "default_mp_batchify_fn",
    "fetcher_loop_v1",
    "rebuild_ndarray",
    "reduce_ndarray",
    "worker_loop_v1",
]

__dir__ = listing(__name__)

# The unused imports above are for loaders of other libraries.
sharing.register()


def default_batchify_fn(data):
    """Combine items into a batch.

    Parameters
    ----------
    data : list
        Arrays of one shape, numbers or lists of numbers, or tuples or lists of these.

    Returns
    -------
    NDArray or list of NDArray
        The items along a new first axis; for tuples a list with one batch per part.
    """
    return _in_numpy(_joined(data, None)) if util.is_np_array() else _joined(data, None)


def default_mp_batchify_fn(data):
    """Combine items inin shared memory; see `default_batchify_fn`."""
    return _joined(data, cpu_shared())


def _joined(data, ctx):
    first = data[0]
    if isinstance(first, NDArray):
        if ctx is None:
            return nd.stack(*data)
        out = nd.empty((len(data), *first.shape), dtype=first.dtype, ctx=ctx)
        return nd.stack(*data, out=out)
    if isinstance(first, tuple) or (
        isinstance(first, list) and not all(isinstance(part, numbers.Number) for part in first)
    ):
        return [_joined(part, ctx) for part in zip(*data, strict=True)]
    if isinstance(first, np.ndarray) and len({(item.shape, item.dtype) for item in data}) == 1:
        batch = nd.empty((len(data), *first.shape), dtype=first.dtype, ctx=ctx)
        np.stack(data, out=batch.numpy_view())
        return batch
    shapes = {np.shape(item) for item in data} if isinstance(first, np.ndarray) else ()
    if len(shapes) > 1:
        listed = " and ".join(map(str, sorted(shapes)[:2]))
        raise ValueError(
            f"DataLoader: items of a batch have different shapes, {listed}: transform them to one "
            "shape, or pass batchify_fn"
        )
    data = np.asarray(data)
    return nd.array(data, dtype=data.dtype, ctx=ctx)


class DataLoader:
    """Iterates over a data set in batches.

    Parameters
    ----------
    dataset : Dataset
        The items; any object with ``__len__`` and ``__getitem__``.
    batch_size : int, optional
        Items per batch; required without a `batch_sampler`.
    shuffle : bool
        Visit the items in random order.
    sampler : Sampler, optional
        Source of indices, instead of `shuffle`.
    last_batch : {'keep', 'discard', 'rollover'}, optional
        See `BatchSampler`.
    batch_sampler : Sampler, optional
        Source of lists of indices, instead of the four arguments before.
    batchify_fn : callable, optional
        Combines a list of items into a batch; by default `default_batchify_fn`, or
        `default_mp_batchify_fn` with worker processes.
    num_workers : int
        Number of processes or threads that load in the background; 0 loads each batch on
        request.
    pin_memory : bool
        Copy batches to pinned memory, for fast copies to a GPU.
    pin_device_id : int
        Id of that GPU.
    prefetch : int, optional
        Number of batches loaded ahead, ``2 * num_workers`` by default.
    thread_pool : bool
        Use threads instead of processes.
    timeout : int
        Seconds to wait for a batch before raising.
    auto_reload : bool
        Start loading the next epoch immediately, and after each epoch.
    try_nopython : bool, optional
        Accepted for compatibility.

    Raises
    ------
    ValueError
        If arguments contradict each other.

    Notes
    -----
    Worker processes are forked when the loader is constructed and do not see later changes of the
    data set. All inherit the same ``numpy.random`` and ``mx.random`` state; seed by the item's
    index where that matters. Worker k modulo `num_workers` loads the k-th batch of an epoch.
    Python's ``random`` differs from run to run. After ``multiprocessing.set_start_method``, workers
    use that method: the data set and functions are pickled, and random generators start as in a new
    program.

    Worker processes return arrays in shared memory, on the context ``cpu_shared(0)``. Operators
    accept them together with arrays on the CPU, and put results on the CPU.

    An exception in a worker is raised by the iteration, with the worker's traceback, as is an error
    if a worker was killed. The next epoch then starts new workers.
    """

    def __init__(
        self,
        dataset,
        batch_size=None,
        shuffle=False,
        sampler=None,
        last_batch=None,
        batch_sampler=None,
        batchify_fn=None,
        num_workers=0,
        pin_memory=False,
        pin_device_id=0,
        prefetch=None,
        thread_pool=False,
        timeout=120,
        auto_reload=False,
        try_nopython=None,
    ):
        assert timeout > 0, f"timeout must be positive, given {timeout}"
        # Subclasses in other libraries read and set these attributes.
        self._worker_pool = self._iter = None
        self._dataset = dataset
        self._pin_memory, self._pin_device_id = pin_memory, pin_device_id
        self._thread_pool = thread_pool
        self._timeout = timeout
        self._batch_sampler = _batch_sampler(
            dataset, batch_size, shuffle, sampler, last_batch, batch_sampler
        )
        self._num_workers = max(0, num_workers)
        if batchify_fn is None:
            processes = self._num_workers > 0 and not thread_pool
            batchify_fn = default_mp_batchify_fn if processes else default_batchify_fn
        self._batchify_fn = batchify_fn
        self._prefetch = 2 * self._num_workers if prefetch is None else max(0, int(prefetch))
        self.auto_reload = auto_reload
        if self._num_workers > 0:
            self._start_workers()
        if auto_reload:
            self.refresh()

    def __iter__(self):
        if self._iter is None:
            self.refresh()
        batches, self._iter = self._iter, None
        yield from map(_in_numpy, batches) if util.is_np_array() else batches
        if self._iter is None and self.auto_reload:
            self.refresh()

    def __len__(self):
        return len(self._batch_sampler)

    def _start_workers(self):
        if self._thread_pool:
            flags = semantics()
            self._worker_pool = ThreadPool(self._num_workers, lambda: util.set_np(*flags))
        else:
            self._worker_pool = ProcessPool(self._num_workers, self._dataset, self._batchify_fn)

    def _batches(self):
        """The batches of one epoch."""
        if self._num_workers == 0:
            return map(self._load, self._batch_sampler)
        if self._thread_pool:
            return OrderedResults(
                self._worker_pool, self._load, self._batch_sampler, self._prefetch, self._timeout
            )
        if hasattr(self._worker_pool, "apply_async"):  # set by a subclass
            return PoolBatches(
                self._worker_pool,
                self._batchify_fn,
                self._batch_sampler,
                self._pin_memory,
                self._pin_device_id,
                prefetch=self._prefetch,
                data_loader=self,
                timeout=self._timeout,
            )
        if self._worker_pool.closed:
            self._start_workers()
        batches = Batches(self._worker_pool, self._batch_sampler, self._prefetch, self._timeout)
        return map(self._pinned, batches) if self._pin_memory else batches

    def _load(self, indices):
        batch = self._batchify_fn([self._dataset[i] for i in indices])
        return self._pinned(batch) if self._pin_memory else batch

    def _pinned(self, batch):
        return _as_in_context(batch, cpu_pinned(self._pin_device_id))

    def refresh(self):
        """Start loading the next epoch."""
        self._iter = self._batches()

    def clean(self):
        """Discard the epoch started by `refresh`."""
        self._iter = None

    def __del__(self):
        pool = getattr(self, "_worker_pool", None)
        if pool is not None:
            (pool.terminate if hasattr(pool, "terminate") else pool.close)()


class DataLoaderV1(DataLoader):
    """`DataLoader` with the parameters of its first version.

    Parameters
    ----------
    dataset, batch_size, shuffle, sampler, last_batch, batch_sampler, batchify_fn, num_workers
        See `DataLoader`.
    pin_memory, pin_device_id
        See `DataLoader`.
    """

    def __init__(
        self,
        dataset,
        batch_size=None,
        shuffle=False,
        sampler=None,
        last_batch=None,
        batch_sampler=None,
        batchify_fn=None,
        num_workers=0,
        pin_memory=False,
        pin_device_id=0,
    ):
        super().__init__(
            dataset,
            batch_size,
            shuffle,
            sampler,
            last_batch,
            batch_sampler,
            batchify_fn,
            num_workers,
            pin_memory,
            pin_device_id,
        )


def _in_numpy(batch):
    """Convert a batch to `mx.np` arrays, whatever the semantics of the worker."""
    if isinstance(batch, (list, tuple)):
        parts = map(_in_numpy, batch)
        return type(batch)(*parts) if hasattr(batch, "_fields") else type(batch)(parts)
    return in_numpy(batch) if isinstance(batch, NDArray) else batch


def _batch_sampler(dataset, batch_size, shuffle, sampler, last_batch, batch_sampler):
    if batch_sampler is not None:
        if batch_size is not None or shuffle or sampler is not None or last_batch is not None:
            raise ValueError(
                "batch_size, shuffle, sampler and last_batch must not be specified if "
                "batch_sampler is specified."
            )
        return batch_sampler
    if batch_size is None:
        raise ValueError("batch_size must be specified unless batch_sampler is specified")
    if sampler is None:
        sampler = RandomSampler(len(dataset)) if shuffle else SequentialSampler(len(dataset))
    elif shuffle:
        raise ValueError("shuffle must not be specified if sampler is specified")
    return BatchSampler(sampler, batch_size, last_batch or "keep")
