"""Batchify functions, which combine items into batches."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.gluon.data import DataLoader, batchify


def test_stack():
    assert batchify.Stack()([1, 2]).asnumpy().tolist() == [1, 2]
    assert batchify.Stack()([np.ones(2, "float64")] * 2).dtype == np.float64
    assert batchify.Stack()([mx.nd.ones(2)] * 3).shape == (3, 2)
    columns = batchify.Stack()([[1, 2], [3, 4]])
    assert [column.asnumpy().tolist() for column in columns] == [[1, 3], [2, 4]]


def test_pad():
    pad = batchify.Pad(val=-1)
    assert pad([[1, 2, 3], [4]]).asnumpy().tolist() == [[1, 2, 3], [4, -1, -1]]
    assert batchify.Pad(round_to=4)([[1], [2]]).asnumpy().tolist() == [[1, 0, 0, 0], [2, 0, 0, 0]]
    assert batchify.Pad(dtype="int32")([[1.0]]).dtype == np.int32
    corner = batchify.Pad()([np.ones((2, 3)), np.ones((3, 1))]).asnumpy()
    assert corner.shape == (2, 3, 3) and corner[0].sum() == 6 and corner[1].sum() == 3
    assert batchify.Pad()([mx.np.array(1.0), mx.np.array(2.0)]).asnumpy().tolist() == [1, 2]
    for items in ([1, 2], [(1, 2), (3,)]):
        with pytest.raises(NotImplementedError, match="Pad joins arrays"):
            pad(items)


def test_append():
    arrays = batchify.Append()([np.ones((2, 3)), np.ones((3, 1))])
    assert [array.shape for array in arrays] == [(1, 2, 3), (1, 3, 1)]
    assert batchify.Append(expand=False)([[1, 2]])[0].shape == (2,)
    assert batchify.Append(batch_axis=1)([[1, 2]])[0].shape == (2, 1)


def test_group():
    items = [(1, [1, 2]), (2, [1])]
    numbers, padded = batchify.Group(batchify.Stack(), batchify.Pad())(items)
    assert numbers.asnumpy().tolist() == [1, 2] and padded.asnumpy().tolist() == [[1, 2], [1, 0]]
    _, lists = batchify.Group([batchify.Stack(), batchify.AsList()])(items)
    assert lists == [[1, 2], [1]]
    with pytest.raises(AssertionError, match="3 parts"):
        batchify.Group(batchify.Stack(), batchify.Pad())([(1, [1], 2)])
    with pytest.raises(AssertionError, match="callable"):
        batchify.Group(3)


def test_with_a_loader():
    loader = DataLoader([[1, 2], [3], [4]], 2, batchify_fn=batchify.Pad(), num_workers=1)
    assert [batch.asnumpy().tolist() for batch in loader] == [[[1, 2], [3, 0]], [[4]]]


def test_handles():
    stack = batchify.Group(batchify.Stack(), batchify.Pad(val=-1))
    parts = stack.__mx_handle__()([[np.ones(2), np.ones(1)], [np.ones(2), np.ones(3)]])
    assert [part.shape for part in parts] == [(2, 2), (2, 3)]
    numbers = mx.gluon.data.SimpleDataset([1, 2, 3, 4]).filter(lambda x: x % 2).__mx_handle__()
    assert list(numbers) == [1, 3]
