"""`npx.index_add`, `npx.index_update` and `npx.constraint_check`."""

import numpy as onp
import pytest

import mxcy as mx
from mxcy import autograd

np, npx = mx.np, mx.npx


def recorded(function, a, ind, val):
    """The result, and both gradients of its sum weighted by 1, 2, 3, ..."""
    a, val = np.array(a), np.array(val)
    a.attach_grad()
    val.attach_grad()
    with autograd.record():
        actual = function(a, np.array(ind, "int64"), val)
        weights = np.arange(1, actual.size + 1).reshape(actual.shape)
        loss = (actual * weights).sum()
    loss.backward()
    return actual.tolist(), a.grad.tolist(), val.grad.tolist()


def test_repeated_coordinates_add_up():
    ind = [[0, 1, 0], [1, 2, 1]]
    actual, of_a, of_val = recorded(npx.index_add, onp.zeros((2, 3)), ind, [1.0, 2, 3])
    assert actual == [[0, 4, 0], [0, 0, 2]]
    assert of_a == [[1, 2, 3], [4, 5, 6]] and of_val == [2, 6, 2]


def test_updated_elements_do_not_reach_the_array():
    ind = [[0, 1], [1, 2]]
    actual, of_a, of_val = recorded(npx.index_update, onp.full((2, 3), 7.0), ind, [1.0, 2])
    assert actual == [[7, 1, 7], [7, 7, 2]]
    assert of_a == [[1, 0, 3], [4, 5, 0]] and of_val == [2, 6]


@pytest.mark.parametrize("name", ["index_add", "index_update"])
def test_values_broadcast(name):
    function = getattr(npx, name)
    zeros, ind = np.zeros((2, 3)), np.array([[0, 1]], "int32")
    assert function(zeros, ind, np.array([1.0, 2, 3])).tolist() == [[1, 2, 3]] * 2
    assert function(zeros, ind, np.array([[1.0], [2]])).tolist() == [[1] * 3, [2] * 3]
    assert function(zeros, ind[0], np.array(5.0)).tolist() == [[5] * 3] * 2
    _, _, of_val = recorded(function, onp.zeros((2, 3)), [[0, 1]], 4.0)
    assert of_val == 21


@pytest.mark.parametrize("place", [-1, 2])
def test_coordinates_outside(place):
    with pytest.raises(IndexError):
        npx.index_add(np.zeros((2, 3)), np.array([place], "int64"), np.array(1.0)).asnumpy()


def test_values_that_do_not_fit():
    with pytest.raises(mx.MXNetError):
        npx.index_update(np.zeros((2, 3)), np.array([0], "int64"), np.ones((2, 3)))


def test_constraints():
    actual = npx.constraint_check(np.array([1.0, 2]) > 0, "positive numbers")
    assert actual.shape == () and actual.item() is True
    with pytest.raises(ValueError, match="positive numbers"):
        npx.constraint_check(np.array([1.0, -2]) > 0, "positive numbers").asnumpy()
    with pytest.raises(mx.MXNetError):
        npx.constraint_check(np.ones(2))


def test_results_of_broken_constraints_are_refused():
    with pytest.raises(mx.MXNetError, match="late"):
        broken = npx.constraint_check(np.array([1.0, -2]) > 0, "late")
        (broken * np.ones(2)).asnumpy()


def test_one_coordinate():
    a = np.zeros((3, 2))
    a.attach_grad()
    with autograd.record():
        actual = npx.index_update(a, np.array(1, "int32"), np.array([4.0, 5.0]))
    actual.backward()
    assert actual.asnumpy().tolist() == [[0, 0], [4, 5], [0, 0]]
    assert a.grad.asnumpy().tolist() == [[1, 1], [0, 0], [1, 1]]
    assert npx.index_add(np.ones((3,)), np.array(2), np.array(1.5)).asnumpy().tolist() == [
        1,
        1,
        2.5,
    ]
