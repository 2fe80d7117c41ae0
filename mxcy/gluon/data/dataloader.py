"""Loads batches of a data set, with worker threads if asked."""

import numpy as np

from mxcy import ndarray as nd
from mxcy.context import cpu_pinned
from mxcy.gluon.data.sampler import BatchSampler, RandomSampler, SequentialSampler
from mxcy.gluon.data.thread_pool import OrderedResults, ThreadPool
from mxcy.ndarray import NDArray

__all__ = ["DataLoader", "default_batchify_fn", "default_mp_batchify_fn"]


def default_batchify_fn(data):
    """Join items to a batch.

    Parameters
    ----------
    data : list
        Arrays of one shape, numbers, or tuples of them.

    Returns
    -------
    NDArray or list of NDArray
        The items along a new first axis; for tuples a list with one batch of each part.
    """
    if isinstance(data[0], NDArray):
        return nd.stack(*data)
    if isinstance(data[0], tuple):
        return [default_batchify_fn(part) for part in zip(*data, strict=True)]
    data = np.asarray(data)
    return nd.array(data, dtype=data.dtype)


def default_mp_batchify_fn(data):
    """Join items to a batch in a worker; the same as `default_batchify_fn`."""
    return default_batchify_fn(data)


class DataLoader:
    """Iterates over a data set in batches.

    Parameters
    ----------
    dataset : Dataset
        The items; any object with a length and indices will do.
    batch_size : int, optional
        Items per batch; required unless there is a `batch_sampler`.
    shuffle : bool
        Visit the items in random order.
    sampler : Sampler, optional
        Decides the order instead.
    last_batch : {'keep', 'discard', 'rollover'}, optional
        See `BatchSampler`.
    batch_sampler : Sampler, optional
        Decides on order and batches instead of all these.
    batchify_fn : callable, optional
        Joins a list of items to a batch, `default_batchify_fn` by default.
    num_workers : int
        Number of threads that load in the background; 0 loads when a batch is asked for.
    pin_memory : bool
        Put the batches into memory from which copies to a GPU are fast.
    pin_device_id : int
        The GPU that this memory is for.
    prefetch : int, optional
        How many batches may be loaded ahead, ``2 * num_workers`` by default.
    thread_pool : bool
        Accepted for compatibility: workers are always threads.
    timeout : int
        Longest time in seconds to wait for a batch.
    auto_reload : bool
        Begin to load the next epoch as soon as one ends.
    try_nopython : bool, optional
        Accepted for compatibility.

    Raises
    ------
    ValueError
        When the parameters contradict each other.
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
        self._pool = None
        self._ahead = None
        self._dataset = dataset
        self._pin_context = cpu_pinned(pin_device_id) if pin_memory else None
        self._timeout = timeout
        self._batch_sampler = _batch_sampler(
            dataset, batch_size, shuffle, sampler, last_batch, batch_sampler
        )
        self._batchify_fn = default_batchify_fn if batchify_fn is None else batchify_fn
        self._num_workers = max(0, num_workers)
        self._prefetch = 2 * self._num_workers if prefetch is None else max(0, prefetch)
        self.auto_reload = auto_reload
        if auto_reload:
            self.refresh()

    def __iter__(self):
        batches, self._ahead = self._ahead, None
        return _Epoch(self, self._batches() if batches is None else batches)

    def __len__(self):
        return len(self._batch_sampler)

    def _batches(self):
        """The batches of one epoch."""
        if self._num_workers == 0:
            return map(self._load, self._batch_sampler)
        if self._pool is None:
            self._pool = ThreadPool(self._num_workers)
        # A batch needs to be asked for before it can be loaded.
        ahead = max(1, self._prefetch)
        return OrderedResults(self._pool, self._load, self._batch_sampler, ahead, self._timeout)

    def _load(self, indices):
        batch = self._batchify_fn([self._dataset[i] for i in indices])
        return batch if self._pin_context is None else _as_in_context(batch, self._pin_context)

    def refresh(self):
        """Begin to load the next epoch now."""
        self._ahead = self._batches()

    def clean(self):
        """Give up an epoch that `refresh` began, and let the worker threads end."""
        self._ahead = None
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def __del__(self):
        if getattr(self, "_pool", None) is not None:
            self._pool.close()


class _Epoch:
    """Iterator over the batches of one epoch; keeps its loader, and so the threads, alive."""

    def __init__(self, loader, batches):
        self._loader = loader
        self._batches = batches

    def __iter__(self):
        return self

    def __next__(self):
        try:
            return next(self._batches)
        except StopIteration:
            if self._loader.auto_reload and self._loader._ahead is None:
                self._loader.refresh()
            raise


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


def _as_in_context(batch, context):
    if isinstance(batch, NDArray):
        return batch.as_in_context(context)
    if isinstance(batch, (list, tuple)):
        return [_as_in_context(part, context) for part in batch]
    return batch
