"""Newcomers' mistakes and their error messages."""

import numpy as onp
import pytest

import mxcy as mx
from mxcy import autograd, gluon, np, npx
from mxcy.gluon import nn


def dense():
    net = nn.Dense(3)
    net.initialize()
    return net


def one_hot_labels():
    gluon.loss.SoftmaxCrossEntropyLoss()(np.ones((2, 3)), np.ones((2, 3)))


def other_width():
    net = dense()
    net(np.ones((2, 4)))
    net(np.ones((2, 5)))


def other_type():
    net = dense()
    net(np.ones((2, 4), dtype="float64"))


def in_place():
    x = np.ones(3)
    x.attach_grad()
    with autograd.record():
        x += 1


def fallback_recorded():
    x = np.ones(3)
    x.attach_grad()
    with autograd.record():
        np.polyfit(x, x, 1)


MISTAKES = {
    one_hot_labels: (mx.MXNetError, "sparse_label=False"),
    other_width: (mx.MXNetError, r"FullyConnected: argument weight.*\(3, 5\), got \(3, 4\)"),
    other_type: (mx.MXNetError, "FullyConnected.*float64.*float32"),
    in_place: (mx.MXNetError, "recording"),
    fallback_recorded: (ValueError, "polyfit .*autograd.record"),
    lambda: dense()(onp.ones((2, 4))): (ValueError, r"got numpy\.ndarray"),
    lambda: np.random.uniform(size=2.5): (TypeError, "size: expected an integer.*got 2.5"),
    lambda: range(np.array(3)): (TypeError, "integer scalar.* of float32"),
    lambda: np.ones((2, 3)).sum(axis=2): (mx.MXNetError, "axis 2 is out of bounds"),
    lambda: np.ones((2, 3)) @ np.ones((2, 3)): (mx.MXNetError, "3 and 2 differ"),
    lambda: np.ones(2) + np.ones(3): (mx.MXNetError, "broadcast"),
    lambda: np.ones(3).backward(): (mx.MXNetError, r"inside autograd\.record\(\)"),
    lambda: np.array([[1, 2], [3]]): (TypeError, "inhomogeneous"),
    lambda: np.array([1, 2], [3, 4]): (TypeError, "not a dtype; pass the rows of an array as one"),
    lambda: np.concatenate(np.ones((1, 2)), np.ones((1, 2))): (
        TypeError,
        "arrays are joined in one list",
    ),
    lambda: np.linspace(0, 1, "5"): (TypeError, "linspace: num: expected an integer, got str"),
    lambda: np.stack([np.ones(3), np.ones(4)]): (ValueError, r"same shape, got \(3,\), \(4,\)"),
    lambda: np.unique(np.ones(3), axis=4): (mx.MXNetError, "unique: axis: axis 4 is out"),
    lambda: np.softmax(np.ones(3)): (AttributeError, "'softmax'; mxcy.numpy_extension has it"),
    lambda: npx.exp(np.ones(3)): (AttributeError, "'exp'; mxcy.numpy has it"),
    lambda: np.onse(3): (AttributeError, "did you mean 'ones'"),
    lambda: npx.softmx(np.ones(3)): (AttributeError, "did you mean 'softmax'"),
    lambda: nn.Dnse(3): (AttributeError, "did you mean 'Dense'"),
    lambda: np.ones(3, dtype="int33"): (mx.MXNetError, "dtype 'int33' is not supported"),
    lambda: np.ones(3)[5]: (IndexError, "index 5 is out of bounds for axis 0 with size 3"),
    lambda: bool(np.ones(3)): (ValueError, "ambiguous"),
    lambda: nn.Dense(3)(np.ones((1, 2))): (RuntimeError, "has not been initialized"),
    lambda: dense().weight.data(): (RuntimeError, "first forward pass"),
    lambda: gluon.utils.split_and_load(np.ones((3, 1)), [mx.cpu(0), mx.cpu(1)]): (
        ValueError,
        "even_split=False",
    ),
}


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_messages(number):
    mistake, (kind, text) = list(MISTAKES.items())[number]
    with pytest.raises(kind, match=text):
        mistake()


def test_arrays_of_both_classes_meet():
    """Without `set_np`, or with mixed arrays, results are mx.np arrays with right gradients."""
    npx.reset_np()
    net = dense()
    old, new = mx.nd.ones((2, 4)), np.ones((2, 4))
    assert type(net(new)) is np.ndarray and np.array_equal(net(new), net(old).as_np_ndarray())
    for arrays in ((old, new), (new, old)):
        for array in arrays:
            array.attach_grad()
        with autograd.record():
            both = arrays[0] * arrays[1]
            loss = both.sum()
        loss.backward()
        assert type(both) is np.ndarray
        assert type(old.grad) is mx.nd.NDArray and old.grad.asnumpy().sum() == 8
    assert isinstance(gluon.loss.L2Loss()(new, old), np.ndarray)
    data = gluon.data.ArrayDataset(onp.ones((4, 2), "float32"))
    assert type(next(iter(gluon.data.DataLoader(data, 2)))) is mx.nd.NDArray
    npx.set_np()
    assert type(next(iter(gluon.data.DataLoader(data, 2)))) is np.ndarray
