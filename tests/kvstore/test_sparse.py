"""Row_sparse values in a store."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import nd
from mxcy.base import MXNetError

SHAPE = (4, 3)


def rows(*ids, value=1.0):
    data = np.full((len(ids), 3), value, "float32")
    return nd.sparse.row_sparse_array((data, list(ids)), shape=SHAPE)


def store(stype="row_sparse"):
    made = mx.kv.create("local")
    made.init("w", nd.ones(SHAPE).tostype(stype))
    return made


def empty():
    return nd.sparse.zeros("row_sparse", SHAPE)


def test_rows_are_pulled_sorted_and_once():
    kv, out = store(), empty()
    kv.row_sparse_pull("w", out, row_ids=nd.array([3, 1, 3]))
    assert out.indices.asnumpy().tolist() == [1, 3] and (out.data.asnumpy() == 1).all()


def test_lists_of_arrays_and_of_rows():
    kv, outs = store(), [empty(), empty()]
    kv.row_sparse_pull("w", outs, row_ids=[nd.array([0]), nd.array([2, 3])])
    assert [o.indices.asnumpy().tolist() for o in outs] == [[0], [2, 3]]
    kv.row_sparse_pull(["w", "w"], outs, row_ids=[nd.array([1]), nd.array([2])])
    assert [o.indices.asnumpy().tolist() for o in outs] == [[1], [2]]
    kv.row_sparse_pull("w", outs, row_ids=nd.array([3]))
    assert [o.indices.asnumpy().tolist() for o in outs] == [[3], [3]]


def test_pushes_are_summed_and_replace():
    kv, out = store(), empty()
    kv.push("w", [rows(2), rows(0, 2)])
    kv.pull("w", out)
    assert out.indices.shape == (0,)  # ignored
    kv.pull("w", out, ignore_sparse=False)
    assert out.asnumpy()[:, 0].tolist() == [1, 0, 2, 0]
    kv.pushpull("w", [rows(1), rows(1)], out=out)
    assert out.asnumpy()[:, 0].tolist() == [0, 2, 0, 0]


def test_pushes_to_dense_values():
    kv, out = store("default"), nd.zeros(SHAPE)
    kv.push("w", [rows(2), rows(0, 2)])
    kv.pull("w", out)
    assert out.asnumpy()[:, 0].tolist() == [1, 0, 2, 0]


def test_updates_touch_pushed_rows():
    kv, out = store(), empty()
    kv.set_optimizer(mx.optimizer.create("sgd", learning_rate=0.5))
    kv.push("w", [rows(1), rows(3)])
    kv.pull("w", out, ignore_sparse=False)
    assert out.asnumpy()[:, 0].tolist() == [1, 0.5, 1, 0.5]


def test_refused_pulls():
    kv = store()
    with pytest.raises(AssertionError, match="row_ids"):
        kv.row_sparse_pull("w", empty())
    with pytest.raises(MXNetError, match="out must be row_sparse"):
        kv.row_sparse_pull("w", nd.zeros(SHAPE), row_ids=nd.array([1]))
    with pytest.raises(MXNetError, match="the stored value must be row_sparse"):
        store("default").row_sparse_pull("w", empty(), row_ids=nd.array([1]))
    with pytest.raises(MXNetError, match="out of bounds"):
        kv.row_sparse_pull("w", empty(), row_ids=nd.array([4]))


def test_compression_takes_dense_arrays():
    kv = mx.kv.create("device")
    kv.init("w", nd.ones(SHAPE).tostype("row_sparse"))
    kv.set_gradient_compression({"type": "2bit"})
    with pytest.raises(MXNetError, match="dense arrays only"):
        kv.push("w", rows(1))
