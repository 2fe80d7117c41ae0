"""mx.npx.foreach, while_loop and cond."""

import pytest

import mxcy as mx

np, npx = mx.np, mx.npx


def test_foreach():
    data, state = np.arange(6).reshape(3, 2), np.zeros(2)
    data.attach_grad()
    state.attach_grad()
    with mx.autograd.record():
        actual, last = npx.foreach(lambda x, s: (x * s, x + s), data, state)
        loss = actual.sum() + last.sum()
    loss.backward()
    assert type(actual) is np.ndarray and actual.tolist() == [[0, 0], [0, 3], [8, 20]]
    assert last.tolist() == [6, 9]
    assert data.grad.tolist() == [[7, 9], [5, 7], [3, 5]] and state.grad.tolist() == [7, 10]


def test_foreach_keeps_nesting():
    data, state = np.arange(3), np.array(1.0)
    actual, last = npx.foreach(
        lambda x, s: ([x[0] + s[0][0], [x[1]]], [[s[0][0] * 2]]), [data, data * 2], [[state]]
    )
    assert actual[0].tolist() == [1, 3, 6] and actual[1][0].tolist() == [0, 2, 4]
    assert last[0][0].item() == 8
    actual, last = npx.foreach(lambda x, s: (x, []), data, [])
    assert actual.tolist() == [0, 1, 2] and last == []


def test_while_loop():
    start = np.array(1.0)
    start.attach_grad()
    with mx.autograd.record():
        outputs, (count, total) = npx.while_loop(
            lambda i, s: i < 3,
            lambda i, s: ([s * i], [i + 1, s * 2]),
            (np.array(0.0), start),
            max_iterations=5,
        )
    total.backward()
    assert outputs[0].tolist() == [0, 2, 8, 0, 0]
    assert count.item() == 3 and total.item() == 8 and start.grad.item() == 8
    outputs, last = npx.while_loop(lambda i: i < 2, lambda i: (None, i + 1), np.array(0), 7)
    assert outputs == [] and last.item() == 2
    outputs, last = npx.while_loop(lambda i: i < 0, lambda i: ([i, [i + 1]], i + 1), np.ones(1), 3)
    assert last.tolist() == [1] and outputs[1][0].tolist() == [[0]] * 3
    assert outputs[0].dtype == "float32" and type(outputs[0]) is np.ndarray
    with pytest.raises(ValueError):
        npx.while_loop(lambda i: i < 2, lambda i: (None, i + 1), np.array(0))


def test_cond():
    x, y = np.array([1.0, 2.0]), np.array([5.0])
    actual = npx.cond(lambda x, y: x.sum() > y, lambda x, y: x, lambda x, y: [x - y, y], [x, y])
    assert [part.tolist() for part in actual] == [[-4, -3], [5]]
    x.attach_grad()
    with mx.autograd.record():
        actual = npx.cond(lambda x: x.max() > 1, lambda x: x * x, lambda x: x, x)
    actual.backward()
    assert actual.tolist() == [1, 4] and x.grad.tolist() == [2, 4]
    with pytest.raises(ValueError):
        npx.cond(lambda x: x, lambda x: x, lambda x: x, [x])
    with pytest.raises(TypeError):
        npx.cond(np.array(1.0), lambda x: x, lambda x: x, [x])
