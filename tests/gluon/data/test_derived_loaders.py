"""Subclasses of `DataLoader` like those of GluonCV and GluonNLP."""

import multiprocessing
import time
from multiprocessing.pool import ThreadPool

import numpy as np
import pytest

import mxcy as mx
from mxcy.gluon.data import ArrayDataset, DataLoader, dataloader, sampler

NUMBERS = ArrayDataset(np.arange(6, dtype="float32"))
FORKS = multiprocessing.get_context("fork")


def values(batches):
    return [batch.asnumpy().tolist() for batch in batches]


def process_pool(dataset):
    return FORKS.Pool(1, dataloader._worker_initializer, (dataset, False, False))


def test_attributes():
    loader = DataLoader(NUMBERS, 2, pin_memory=True, pin_device_id=3)
    assert loader._dataset is NUMBERS and loader._num_workers == 0 and loader._prefetch == 0
    assert loader._pin_memory is True and loader._pin_device_id == 3
    assert loader._worker_pool is None and loader._iter is None and not loader._thread_pool
    assert isinstance(loader._batch_sampler, dataloader._sampler.BatchSampler)
    assert loader._batchify_fn is dataloader.default_batchify_fn
    assert next(iter(loader)).context == mx.cpu_pinned(3)
    loader.refresh()
    assert loader._iter is not None
    loader.clean()
    assert loader._iter is None


def test_a_loader_may_have_a_pool_of_its_own():
    class Own(DataLoader):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self._worker_pool = process_pool(self._dataset)

    loader = Own(NUMBERS, 2, num_workers=1)
    pool = loader._worker_pool
    for _ in range(2):
        assert values(loader) == [[0, 1], [2, 3], [4, 5]]
    del loader
    with pytest.raises(ValueError, match="not running"):
        pool.apply(int)


def _loads_and_adds(number, samples, batchify_fn):
    return dataloader._worker_fn(samples, lambda items: batchify_fn(items) + number)


def test_an_iterator_may_send_its_own_work():
    class Alternating(dataloader._MultiWorkerIter):
        def _push_next(self):
            indices = next(self._iter, None)
            if indices is not None:
                arguments = (10 * self._sent_idx, indices, self._batchify_fn)
                self._data_buffer[self._sent_idx] = self._worker_pool.apply_async(
                    _loads_and_adds, arguments
                )
                self._sent_idx += 1

    class Loader(DataLoader):
        def __iter__(self):
            return Alternating(
                self._worker_pool,
                self._batchify_fn,
                self._batch_sampler,
                pin_memory=self._pin_memory,
                pin_device_id=self._pin_device_id,
                prefetch=2,
                data_loader=self,
            )

    loader = Loader(NUMBERS, 2)
    loader._worker_pool = process_pool(NUMBERS)
    assert values(iter(loader)) == [[0, 1], [12, 13], [24, 25]]


def test_batches_of_threads_are_not_pickled():
    batches = sampler.BatchSampler(sampler.SequentialSampler(6), 4, "keep")
    with ThreadPool(1, dataloader._thread_worker_initializer, (False, False)) as pool:
        loaded = dataloader._MultiWorkerIter(
            pool,
            dataloader.default_batchify_fn,
            batches,
            dataset=NUMBERS,
            worker_fn=dataloader._thread_worker_fn,
        )
        assert len(loaded) == 2 and values(loaded) == [[0, 1, 2, 3], [4, 5]]


def _fails(items):
    raise KeyError("no such item")


def _sleeps(items):
    time.sleep(60)


def test_a_failure_ends_the_pool():
    pool = process_pool(NUMBERS)
    batches = dataloader._MultiWorkerIter(pool, _fails, [[0]])
    with pytest.raises(KeyError, match="no such item"):
        next(batches)
    with pytest.raises(ValueError, match="not running"):
        pool.apply(int)


def test_waiting_for_a_batch_ends():
    with process_pool(NUMBERS) as pool:
        batches = dataloader._MultiWorkerIter(pool, _sleeps, [[0]], timeout=0.2)
        with pytest.raises(multiprocessing.TimeoutError, match="within 0.2 seconds"):
            next(batches)
