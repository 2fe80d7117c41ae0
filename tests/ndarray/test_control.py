"""Control flow on arrays: beyond the golden results."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd

nd = mx.nd


def test_gradients_pass_through_loops():
    x, weight = nd.array([[1, 2], [3, 4], [5, 6]]), nd.array([2, 3])
    weight.attach_grad()

    def step(row, states):
        total = states[0] + row * weight
        return total, [total]

    with autograd.record():
        outputs, states = nd.contrib.foreach(step, x, [nd.zeros((2,))])
        (outputs.sum() + states[0].sum()).backward()
    assert outputs.asnumpy().tolist() == [[2, 6], [8, 18], [18, 36]]
    assert weight.grad.asnumpy().tolist() == [23, 32]


def test_nested_outputs_keep_their_nesting():
    outputs, _ = nd.contrib.foreach(
        lambda row, state: ([row, [row + 1, row + 2]], state), nd.arange(3), nd.zeros((1,))
    )
    assert outputs[1][1].asnumpy().tolist() == [[2], [3], [4]]


def test_rows_behind_the_end_of_a_loop_are_zeros():
    for _ in range(3):  # reused memory is not visible
        used = nd.full((8, 3), 77)
        used.wait_to_read()
        del used
        outputs, _ = nd.contrib.while_loop(
            lambda i: i.sum() < 6, lambda i: (i + 1, i + 1), nd.zeros((3,)), max_iterations=8
        )
        wanted = np.zeros((8, 3))
        wanted[:2] = [[1], [2]]
        np.testing.assert_array_equal(outputs.asnumpy(), wanted)


def test_loops_end_at_the_condition():
    outputs, (i,) = nd.contrib.while_loop(
        lambda i: i < 2, lambda i: (i * 10, [i + 1]), [nd.array([0])], max_iterations=5
    )
    assert outputs.shape == (5, 1)
    assert outputs[:2].asnumpy().tolist() == [[0], [10]]
    assert i.asscalar() == 2


def test_bad_loops_are_refused():
    with pytest.raises(ValueError, match="max_iterations"):
        nd.contrib.while_loop(lambda i: i < 2, lambda i: (i, i), nd.array([0]))
    with pytest.raises(ValueError, match="at least one"):
        nd.contrib.while_loop(lambda: 1, lambda: None, [], max_iterations=2)
    with pytest.raises(ValueError, match="length of loop_vars"):
        nd.contrib.while_loop(lambda i: 1, lambda i: (i, [i, i]), [nd.array([0])], max_iterations=2)
    for error in (TypeError, AssertionError):  # ours, MXNet's
        with pytest.raises(error, match="data should be an NDArray"):
            nd.contrib.foreach(lambda x, s: (x, s), "abc", nd.zeros((1,)))
    with pytest.raises(ValueError, match="Cannot convert pred to python bool"):
        nd.contrib.cond(nd.ones((2,)), lambda: 1, lambda: 2)
    with pytest.raises(TypeError, match="cond: else_func: expected a function, got NDArray"):
        nd.contrib.cond(nd.ones((1,)), lambda: 1, nd.ones(1))
