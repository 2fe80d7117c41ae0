"""The loader's worker processes."""

import gc
import multiprocessing
import os
import signal
import sys
import threading
import time

import numpy as np
import pytest

import mxcy as mx
from mxcy.gluon import data as gdata
from mxcy.gluon.data import batchify, process_pool
from tests.conditions import await_that
from tests.shared_memory import named_segments

NUMBERS = gdata.SimpleDataset(list(range(10)))


def loaded(loader):
    return [batch.asnumpy().tolist() for batch in loader]


def workers():
    return [p for p in multiprocessing.active_children() if p.name.startswith("mxcy-data")]


@pytest.fixture(autouse=True)
def every_worker_ends():
    before = workers()
    yield
    gc.collect()  # exceptions that were caught hold frames
    await_that(lambda: not set(workers()) - set(before))


class Each(gdata.Dataset):
    """A given number of items, computed from their index."""

    def __init__(self, length, function):
        self._length, self._function = length, function

    def __len__(self):
        return self._length

    def __getitem__(self, index):
        return self._function(index)


def test_batches_come_in_order_from_several_processes():
    slow_start = Each(12, lambda i: (time.sleep(0.02 * (i < 2)), (i, os.getpid()))[1])
    loader = gdata.DataLoader(slow_start, 2, num_workers=3)
    assert len(loader) == 6
    for _ in range(2):
        items, processes = zip(*loader, strict=True)
        assert [x.asnumpy().tolist() for x in items] == [[i, i + 1] for i in range(0, 12, 2)]
        first = [int(p[0].asscalar()) for p in processes]
        assert len(set(first)) == 3 and os.getpid() not in first
        assert first[:3] == first[3:]  # batch k comes from worker k modulo 3


@pytest.mark.parametrize("last_batch", ["keep", "discard", "rollover"])
@pytest.mark.parametrize("prefetch", [None, 0, 100])
def test_batches_are_those_of_no_workers(last_batch, prefetch):
    alone = gdata.DataLoader(NUMBERS, 4, last_batch=last_batch)
    several = gdata.DataLoader(NUMBERS, 4, last_batch=last_batch, num_workers=2, prefetch=prefetch)
    for _ in range(3):
        assert loaded(several) == loaded(alone)


def test_the_sampler_stays_here():
    np.random.seed(0)
    loader = gdata.DataLoader(NUMBERS, 5, shuffle=True, num_workers=2)
    np.random.seed(0)
    order = loaded(gdata.DataLoader(NUMBERS, 5, shuffle=True))
    np.random.seed(0)
    assert loaded(loader) == order


def test_random_numbers_continue_those_of_the_loader():
    def draw(index):
        return np.random.rand(), mx.nd.random.uniform(shape=(1,)).asscalar()

    np.random.seed(5)
    mx.random.seed(5)
    loader = gdata.DataLoader(Each(4, draw), 1, num_workers=2)
    own = [draw(i) for i in range(2)]
    # As in MXNet 1.9.1 and 2.0.0b1, where the first are 0.22199317... and 0.8607373...
    drawn = [(x.asscalar(), y.asscalar()) for x, y in loader]
    np.testing.assert_allclose(drawn, [own[0], own[0], own[1], own[1]])
    np.testing.assert_allclose(drawn[0], (0.22199317108973948, 0.8607373))


def test_arrays_come_in_shared_memory():
    big = gdata.ArrayDataset(mx.nd.arange(40000).reshape((4, 10000)), [1, 2, 3, 4])
    for data, label in gdata.DataLoader(big, 2, num_workers=1):
        assert data.context == label.context == mx.context.cpu_shared(0)
        first = data[0, 0].asscalar()
        assert data.asnumpy().tolist() == np.arange(first, first + 20000).reshape(2, -1).tolist()
        assert (data + label.reshape((2, 1)).astype("float32")).context == mx.cpu(0)
        net = mx.gluon.nn.Dense(3)
        net.initialize()
        for _ in range(2):
            assert net(data).context == mx.cpu(0)
            net.hybridize()


def nested(index):
    return {
        "text": f"item {index}",
        "arrays": [mx.nd.full((3000,), index), np.full((3000,), index, "int16")],
        "few": mx.nd.full((2,), index, dtype="float16"),
        "half": mx.nd.full((5000,), index).astype("bfloat16"),
        "number": mx.nd.array(index),
        "columns": np.asfortranarray(np.full((50, 60), index)),
        "long": list(range(20000)),
        "none": None,
    }


def test_nested_batches():
    for number, batch in enumerate(
        gdata.DataLoader(Each(4, nested), 2, num_workers=2, batchify_fn=batchify.AsList())
    ):
        for place, item in enumerate(batch):
            index, expected = 2 * number + place, nested(2 * number + place)
            assert item["text"] == expected["text"] and item["long"] == expected["long"]
            assert item["none"] is None
            for array in (item["arrays"][0], item["few"], item["half"], item["number"]):
                assert array.context == mx.context.cpu_shared(0)
            for name in ("few", "half", "number"):
                assert item[name].dtype == expected[name].dtype
                assert item[name].shape == expected[name].shape
                assert (item[name].astype("float32").asnumpy() == index).all()
            shared, plain = item["arrays"]
            assert shared.dtype == np.float32 and (shared.asnumpy() == index).all()
            assert plain.dtype == np.int16 and (plain == index).all()
            plain[:] = -1  # it may be written
            assert (item["columns"] == index).all() and item["columns"].flags.f_contiguous


def test_batches_of_tuples_and_lists():
    pairs = gdata.ArrayDataset(np.ones((4, 3)), gdata.ArrayDataset([1, 2, 3, 4], [5, 6, 7, 8]))
    for data, (left, right) in gdata.DataLoader(pairs, 4, num_workers=1):
        assert data.shape == (4, 3) and data.dtype == np.float64
        assert left.asnumpy().tolist() == [1, 2, 3, 4] and right.asnumpy().tolist() == [5, 6, 7, 8]
    (batch,) = gdata.DataLoader([[1, 2], [3, 4]], 2, num_workers=1)
    assert batch.asnumpy().tolist() == [[1, 2], [3, 4]]
    (batch,) = gdata.DataLoader([[np.ones(2), 1], [np.ones(2), 2]], 2, num_workers=1)
    assert [part.shape for part in batch] == [(2, 2), (2,)]


@pytest.mark.parametrize("shared", [False, True])
def test_many_arrays_in_a_batch(shared):
    join = batchify.Append(use_shared_mem=shared)
    loader = gdata.DataLoader(
        Each(60, lambda i: np.full(2000, i, "float32")), 30, num_workers=2, batchify_fn=join
    )
    for number, batch in enumerate(loader):
        assert [x[0, -1].asscalar() for x in batch] == list(range(30 * number, 30 * number + 30))


def test_arrays_that_are_shared_already_are_not_copied():
    board = mx.nd.zeros((3, 2000), ctx=mx.context.cpu_shared(0))
    loader = gdata.DataLoader(Each(3, lambda i: board[i]), 1, num_workers=1, batchify_fn=list)
    for row, (batch,) in enumerate(loader):
        batch[:] = row + 1
        assert batch.shape == (2000,)
    assert board.asnumpy()[:, 0].tolist() == [1, 2, 3]


def test_pinned_memory():
    loader = gdata.DataLoader(gdata.ArrayDataset([1, 2], [3, 4]), 2, num_workers=1, pin_memory=True)
    for batch in loader:
        assert [array.context for array in batch] == [mx.cpu_pinned(0)] * 2


class TwoPart(Exception):
    """An exception that cannot be unpickled."""

    def __init__(self, left, right):
        super().__init__(f"{left} and {right}")


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (KeyError("number 3"), KeyError, "number 3"),
        (TwoPart(1, 2), mx.MXNetError, "TwoPart: 1 and"),
    ],
)
def test_exceptions_arrive_with_their_traceback(error, kind, text):
    def faulty(index):
        if index == 3:
            raise error
        return index

    loader = gdata.DataLoader(Each(6, faulty), 2, num_workers=2)
    batches = iter(loader)
    assert next(batches).asnumpy().tolist() == [0, 1]
    with pytest.raises(kind, match=text) as caught:
        next(batches)
    assert "in faulty" in str(caught.value.__cause__)
    assert list(batches) == []
    assert next(iter(loader)).asnumpy().tolist() == [0, 1]  # the workers continue


def test_batches_that_cannot_be_sent():
    loader = gdata.DataLoader(NUMBERS, 2, num_workers=1, batchify_fn=lambda items: threading.Lock())
    with pytest.raises(TypeError, match="pickle"):
        next(iter(loader))


def test_a_killed_worker_is_an_error_soon():
    loader = gdata.DataLoader(
        Each(100, lambda i: (time.sleep(0.01), os.getpid())[1]), 1, num_workers=2
    )
    batches = iter(loader)
    victim = int(next(batches).asscalar())
    os.kill(victim, signal.SIGKILL)
    with pytest.raises(
        mx.MXNetError, match=rf"worker 0 .*process {victim}\) was killed by SIGKILL"
    ):
        list(batches)
    assert not workers()
    assert len(list(loader)) == 100  # with new ones


def test_a_worker_that_was_killed_while_idle():
    loader = gdata.DataLoader(NUMBERS, 5, num_workers=1)
    assert loaded(loader) == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    (process,) = workers()
    process.kill()
    process.join()
    with pytest.raises(mx.MXNetError, match="killed by SIGKILL"):
        list(loader)
    assert len(list(loader)) == 2


def test_a_worker_that_exits():
    loader = gdata.DataLoader(Each(2, lambda i: os._exit(3)), 1, num_workers=1)
    with pytest.raises(mx.MXNetError, match="ended with exit code 3"):
        list(loader)


def test_a_slow_batch_times_out():
    loader = gdata.DataLoader(Each(2, lambda i: time.sleep(60)), 1, num_workers=1, timeout=0.05)
    for kind in (TimeoutError, multiprocessing.TimeoutError):
        with pytest.raises(kind, match=r"not loaded within 0\.05 seconds"):
            next(iter(loader))


def test_leaving_early_stops_the_work():
    board = mx.nd.zeros((1000,), ctx=mx.context.cpu_shared(0))

    def note(index):
        time.sleep(0.002)
        board[index] = 1
        return index

    loader = gdata.DataLoader(Each(1000, note), 1, num_workers=2, prefetch=100)
    for _ in loader:
        break
    count = -1
    while count != board.asnumpy().sum():  # started batches are finished
        count = board.asnumpy().sum()
        time.sleep(0.05)
    assert count < 60
    assert next(iter(loader)).asscalar() == 0


def test_iterators_of_one_loader_take_turns():
    loader = gdata.DataLoader(NUMBERS, 5, num_workers=2)
    first, second = iter(loader), iter(loader)
    for expected in ([0, 1, 2, 3, 4], [5, 6, 7, 8, 9]):
        assert next(first).asnumpy().tolist() == next(second).asnumpy().tolist() == expected


def test_auto_reload_loads_the_next_epoch():
    board = mx.nd.zeros((1,), ctx=mx.context.cpu_shared(0))

    def count(index):
        board[:] += 1
        return index

    loader = gdata.DataLoader(Each(2, count), 1, num_workers=1, auto_reload=True)
    await_that(lambda: board.asscalar() == 2)
    assert loaded(loader) == [[0], [1]]
    await_that(lambda: board.asscalar() == 4)
    loader.clean()
    assert loaded(loader) == [[0], [1]]


def open_files():
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("leave_early", [False, True])
def test_processes_end_with_the_loader(leave_early):
    before = open_files()
    for _ in range(3):
        loader = gdata.DataLoader(NUMBERS, 2, num_workers=2)
        assert len(workers()) == 2
        for _ in loader:
            if leave_early:
                break
        del loader
    await_that(lambda: not workers())
    await_that(lambda: open_files() == before)


def test_no_shared_memory_leaks_after_many_batches():
    images = Each(4000, lambda i: (np.full((8, 16, 16), i, "float32"), i))
    loader = gdata.DataLoader(images, 4, num_workers=4)
    before = open_files()
    for number, (data, label) in enumerate(loader):
        assert data.shape == (4, 8, 16, 16) and label[0].asscalar() == 4 * number
        if number % 100 == 0:
            assert open_files() == before and named_segments() == []
    assert number == 999
    del data, label
    assert open_files() == before and named_segments() == []


def test_batches_that_are_kept_stay_as_they_are():
    # Workers reuse shared memory, but only after its batch is gone.
    rows = Each(120, lambda i: np.full(3000, i, "float32"))
    kept = {}
    for number, batch in enumerate(gdata.DataLoader(rows, 2, num_workers=2)):
        kept[number] = batch
        kept.pop(number - number % 7, None)
    for number, batch in kept.items():
        assert (batch.asnumpy() == [[2 * number], [2 * number + 1]]).all()


def test_workers_that_do_not_end_in_time_are_left_alone(monkeypatch):
    unraisable = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    monkeypatch.setattr(sys, "excepthook", lambda *about: unraisable.append(about))
    monkeypatch.setattr(process_pool, "_GRACE", 0)
    loader = gdata.DataLoader(NUMBERS, batch_size=5, num_workers=1)
    assert len(loaded(loader)) == 2
    (worker,) = workers()
    os.kill(worker.pid, signal.SIGSTOP)
    with monkeypatch.context() as patch:
        for name in ("terminate", "kill"):
            patch.setattr(multiprocessing.Process, name, lambda process: None)
        del loader
        gc.collect()
    assert worker.is_alive() and not unraisable
    worker.kill()
