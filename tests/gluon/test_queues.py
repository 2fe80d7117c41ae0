"""Names of the loader that older programs use."""

import multiprocessing

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
