"""Data sets, samplers, and the loader with threads; for processes see test_workers.py."""

import threading
import time

import numpy as np
import pytest

import mxcy as mx
from mxcy.gluon import data as gdata
from tests.conditions import await_that

NUMBERS = gdata.SimpleDataset(list(range(10)))


def loaded(loader):
    return [batch.asnumpy().tolist() for batch in loader]


class Faulty(gdata.Dataset):
    """Six items, the fourth of which cannot be read."""

    def __len__(self):
        return 6

    def __getitem__(self, index):
        if index == 3:
            raise KeyError("number 3 is broken")
        return index


def test_random_sampler_uses_numpys_generator():
    np.random.seed(0)
    assert list(gdata.RandomSampler(6)) == [5, 2, 1, 3, 0, 4]  # as in MXNet 1.9.1


@pytest.mark.parametrize(
    ("last_batch", "first", "second"),
    [
        ("keep", [[0, 1, 2], [3, 4, 5], [6]], [[0, 1, 2], [3, 4, 5], [6]]),
        ("discard", [[0, 1, 2], [3, 4, 5]], [[0, 1, 2], [3, 4, 5]]),
        ("rollover", [[0, 1, 2], [3, 4, 5]], [[6, 0, 1], [2, 3, 4]]),
    ],
)
def test_batch_sampler(last_batch, first, second):
    sampler = gdata.BatchSampler(gdata.SequentialSampler(7), 3, last_batch)
    for epoch in (first, second):
        assert len(sampler) == len(epoch)
        assert list(sampler) == epoch


def test_batch_sampler_refuses_other_words():
    with pytest.raises(ValueError, match="last_batch must be one of"):
        list(gdata.BatchSampler(gdata.SequentialSampler(7), 3, "drop"))


def test_samplers():
    assert list(gdata.SequentialSampler(3, start=4)) == [4, 5, 6]
    assert list(gdata.FilterSampler(lambda x: x % 3 == 0, NUMBERS)) == [0, 3, 6, 9]
    every = gdata.IntervalSampler(8, 3)
    assert list(every) == [0, 3, 6, 1, 4, 7, 2, 5] and len(every) == 8
    some = gdata.IntervalSampler(8, 3, rollover=False)
    assert list(some) == [0, 3, 6] and len(some) == 3


def test_parts_of_data_sets():
    assert list(NUMBERS.filter(lambda x: x % 2)) == [1, 3, 5, 7, 9]
    assert [list(NUMBERS.shard(3, i)) for i in range(3)] == [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert list(NUMBERS.take(3)) == [0, 1, 2]
    assert len(NUMBERS.take(None)) == len(NUMBERS.take(99)) == 10
    assert list(NUMBERS.sample(gdata.SequentialSampler(2, 5))) == [5, 6]
    with pytest.raises(TypeError, match="Invalid sampler type"):
        NUMBERS.sample([1, 2])
    with pytest.raises(AssertionError, match="3 out of 3"):
        NUMBERS.shard(3, 3)


def test_transform_is_lazy_if_asked():
    calls = []

    def double(x):
        calls.append(x)
        return 2 * x

    lazy = NUMBERS.transform(double)
    assert calls == [] and lazy[3] == 6 and len(lazy) == 10
    calls.clear()
    eager = NUMBERS.transform(double, lazy=False)
    assert len(calls) == 10 and eager[3] == 6 and len(calls) == 10


def test_array_dataset():
    pairs = gdata.ArrayDataset(mx.nd.array([[1, 2], [3, 4]]), [5, 6])
    image, label = pairs[1]
    assert image.asnumpy().tolist() == [3, 4] and label == 6
    assert pairs.transform_first(lambda x: x + 1)[0][0].asnumpy().tolist() == [2, 3]
    assert pairs.transform(lambda x, y: (y, x))[0][0] == 5
    assert gdata.ArrayDataset([7, 8])[1] == 8
    assert isinstance(gdata.ArrayDataset(mx.nd.array([1, 2]))[0], np.float32)
    with pytest.raises(AssertionError, match="same length"):
        gdata.ArrayDataset([1], [1, 2])
    with pytest.raises(AssertionError, match="at least one"):
        gdata.ArrayDataset()


@pytest.mark.parametrize(
    ("items", "dtype", "values"),
    [
        ([1, 2], np.int64, [1, 2]),
        ([1.5, 2], np.float64, [1.5, 2]),
        ([np.ones(2, "uint8")] * 2, np.uint8, [[1, 1], [1, 1]]),
        ([[1, 2], [3, 4]], np.int64, [[1, 2], [3, 4]]),
    ],
)
def test_batches_keep_types(items, dtype, values):
    batch = gdata.dataloader.default_batchify_fn(items)
    assert batch.dtype == dtype and batch.asnumpy().tolist() == values


def test_batches_of_tuples():
    numbers, arrays = gdata.dataloader.default_batchify_fn([(1, mx.nd.ones(2)), (2, mx.nd.ones(2))])
    assert numbers.asnumpy().tolist() == [1, 2] and arrays.shape == (2, 2)


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_loader_keeps_order(workers):
    loader = gdata.DataLoader(NUMBERS, 3, num_workers=workers, thread_pool=True)
    assert len(loader) == 4
    for _ in range(2):
        assert loaded(loader) == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]


@pytest.mark.parametrize("workers", [0, 2])
def test_loader_last_batch(workers):
    discard = gdata.DataLoader(
        NUMBERS, 4, last_batch="discard", num_workers=workers, thread_pool=True
    )
    assert loaded(discard) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    rollover = gdata.DataLoader(
        NUMBERS, 4, last_batch="rollover", num_workers=workers, thread_pool=True
    )
    assert loaded(rollover) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert loaded(rollover) == [[8, 9, 0, 1], [2, 3, 4, 5], [6, 7, 8, 9]]


@pytest.mark.parametrize("workers", [0, 2])
def test_shuffling_depends_on_the_seed_only(workers):
    np.random.seed(3)
    expected = np.arange(10)
    np.random.shuffle(expected)
    np.random.seed(3)
    loader = gdata.DataLoader(NUMBERS, 5, shuffle=True, num_workers=workers)
    assert loaded(loader) == [expected[:5].tolist(), expected[5:].tolist()]


def test_loader_with_samplers_and_batchify():
    sampler = gdata.BatchSampler(gdata.SequentialSampler(4), 2)
    assert list(gdata.DataLoader(NUMBERS, batch_sampler=sampler, batchify_fn=sum)) == [1, 5]
    assert list(
        gdata.DataLoader(NUMBERS, 2, sampler=gdata.SequentialSampler(3), batchify_fn=sum)
    ) == [1, 2]


def test_loader_refuses_contradictions():
    sampler = gdata.SequentialSampler(4)
    with pytest.raises(ValueError, match="batch_size must be specified"):
        gdata.DataLoader(NUMBERS)
    with pytest.raises(ValueError, match="shuffle must not be specified"):
        gdata.DataLoader(NUMBERS, 2, shuffle=True, sampler=sampler)
    with pytest.raises(ValueError, match="batch_sampler is specified"):
        gdata.DataLoader(NUMBERS, 2, batch_sampler=gdata.BatchSampler(sampler, 2))
    with pytest.raises(AssertionError, match="timeout must be positive"):
        gdata.DataLoader(NUMBERS, 2, timeout=0)
    for size in (0, -2, 2.5, "2"):
        with pytest.raises(ValueError, match="batch_size must be a positive integer, got"):
            gdata.DataLoader(NUMBERS, size)


@pytest.mark.parametrize("workers", [0, 2])
def test_errors_of_items_arrive_with_their_traceback(workers):
    batches = iter(gdata.DataLoader(Faulty(), 2, num_workers=workers, thread_pool=True))
    assert next(batches).asnumpy().tolist() == [0, 1]
    with pytest.raises(KeyError, match="number 3 is broken") as caught:
        next(batches)
    assert caught.traceback[-1].name == "__getitem__"


def test_a_hanging_item_times_out():
    release = threading.Event()
    slow = NUMBERS.transform(lambda x: release.wait() and x)
    batches = iter(gdata.DataLoader(slow, 2, num_workers=1, thread_pool=True, timeout=0.05))
    with pytest.raises(TimeoutError, match=r"not loaded within 0\.05 seconds"):
        next(batches)
    release.set()


def test_leaving_early_stops_the_work():
    read = []

    def slowly(x):
        time.sleep(0.002)
        read.append(x)
        return x

    many = gdata.SimpleDataset(list(range(1000))).transform(slowly)
    loader = gdata.DataLoader(many, 1, num_workers=2, thread_pool=True, prefetch=4)
    for _ in loader:
        break
    count = -1
    while count != len(read):  # started batches are finished
        count = len(read)
        time.sleep(0.05)
    assert count < 20


def test_workers_load_ahead_but_not_too_far():
    read = []
    many = gdata.SimpleDataset(list(range(100))).transform(lambda x: read.append(x) or x)
    loader = gdata.DataLoader(many, 1, num_workers=1, thread_pool=True, prefetch=3)
    loader.refresh()
    await_that(lambda: len(read) == 3)
    time.sleep(0.02)  # in which it would read more
    assert len(read) == 3
    assert next(iter(loader)).asscalar() == 0


@pytest.mark.parametrize("leave_early", [False, True])
def test_threads_end_with_the_loader(leave_early):
    def workers():
        return {t for t in threading.enumerate() if t.name.startswith("mxcy-data")}

    others = workers()
    for _ in range(20):
        loader = gdata.DataLoader(NUMBERS, 2, num_workers=3, thread_pool=True)
        for _ in loader:
            assert workers() - others
            if leave_early:
                break
        del loader
    await_that(lambda: not workers() - others)


def test_auto_reload_loads_the_next_epoch():
    loader = gdata.DataLoader(NUMBERS, 5, num_workers=1, thread_pool=True, auto_reload=True)
    for _ in range(2):
        assert loaded(loader) == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    loader.clean()
    assert loaded(loader) == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]


def test_pinned_memory():
    loader = gdata.DataLoader(gdata.ArrayDataset([1, 2], [3, 4]), 2, pin_memory=True)
    for batch in loader:
        assert [array.context for array in batch] == [mx.cpu_pinned(0)] * 2


def test_the_base_classes_only_name_what_is_missing():
    with pytest.raises(NotImplementedError, match="Dataset does not define __getitem__"):
        gdata.Dataset()[0]
    with pytest.raises(NotImplementedError, match="Sampler does not define __len__"):
        len(gdata.Sampler())
