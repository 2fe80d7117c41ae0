"""Names of the loader module that older programs use."""

import multiprocessing
import os
import queue
import threading

import numpy as np
import pytest

import mxcy as mx
from mxcy.gluon.data import ArrayDataset, dataloader


def _double(there, back):
    array = there.get()
    array *= 2
    back.put(array.asnumpy())


@pytest.mark.parametrize("kind", [dataloader.Queue, dataloader.SimpleQueue])
def test_queues_send_arrays(kind):
    there, back = kind(), kind()
    process = multiprocessing.get_context("fork").Process(target=_double, args=(there, back))
    process.start()
    shared = mx.nd.array([1, 2], ctx=mx.Context("cpu_shared", 0))
    there.put(shared)
    assert back.get().tolist() == [2, 4]
    process.join()
    assert shared.asnumpy().tolist() == [2, 4]


def test_connections_send_arrays():
    ours, theirs = map(dataloader.ConnectionWrapper, multiprocessing.Pipe())
    ours.send((mx.nd.ones((2,)), "text"))
    assert theirs.poll(5)
    array, text = theirs.recv()
    assert array.asnumpy().tolist() == [1, 1] and text == "text"
    with pytest.raises(AttributeError):
        ours.nothing  # noqa: B018


@pytest.mark.parametrize("workers", [0, 2])
def test_the_old_loader(workers):
    loader = dataloader.DataLoaderV1(
        ArrayDataset(np.arange(10)), 3, last_batch="discard", num_workers=workers
    )
    assert len(loader) == 3
    assert [batch.asnumpy().tolist() for batch in loader] == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]


def test_the_loops_of_the_first_loader():
    keys, loaded, buffer = queue.Queue(), queue.Queue(), {}
    for number, indices in ((0, [0, 2]), (1, [1]), (None, None)):
        keys.put((number, indices))
    dataset = [mx.nd.array([value]) for value in (5, 6, 7)]
    dataloader.worker_loop_v1(dataset, keys, loaded, dataloader.default_mp_batchify_fn)
    loaded.put((None, None))
    for lock in (None, threading.Lock()):
        buffer.clear()
        for number, batch in [*loaded.queue]:
            loaded.put((number, batch))
        dataloader.fetcher_loop_v1(loaded, buffer, data_buffer_lock=lock)
        assert {n: b.asnumpy().tolist() for n, b in buffer.items()} == {0: [[5], [7]], 1: [[6]]}
        assert all(batch.context == mx.cpu() for batch in buffer.values())


def test_arrays_are_taken_apart_and_put_together():
    shared = mx.nd.ones((2, 3), ctx=mx.Context("cpu_shared", 0))
    for array in (shared, shared[1:], mx.nd.arange(4, dtype="int32")):
        make, (pid, handle, shape, dtype) = dataloader.reduce_ndarray(array)
        assert make is dataloader.rebuild_ndarray and pid == os.getpid()
        again = make(pid, handle, shape, dtype)
        assert again.context.device_type == "cpu_shared" and again.dtype == array.dtype
        np.testing.assert_array_equal(again.asnumpy(), array.asnumpy())
