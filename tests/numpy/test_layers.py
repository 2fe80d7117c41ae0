"""mx.npx's layers: MXNet 2's parameters, in order, name and default."""

import numpy as onp
import pytest

import mxcy as mx
from mxcy.base import MXNetError

np, npx = mx.np, mx.npx
X, WEIGHT, BIAS = np.ones((2, 3)), np.ones((4, 3)), np.ones(4) * 10
IMAGE = np.arange(16).reshape(1, 1, 4, 4)


def close(actual, want):
    assert type(actual) is np.ndarray
    onp.testing.assert_allclose(actual.asnumpy(), onp.asarray(want), rtol=1e-5, atol=1e-6)


def test_a_bias_counts_when_asked_for():
    close(npx.fully_connected(X, WEIGHT, BIAS, num_hidden=4), onp.full((2, 4), 3))
    close(npx.fully_connected(x=X, weight=WEIGHT, num_hidden=4), onp.full((2, 4), 3))
    close(npx.fully_connected(X, WEIGHT, BIAS, 4, False), onp.full((2, 4), 13))
    close(npx.fully_connected(X, WEIGHT, BIAS, 4, False, out=np.zeros((2, 4))), [[13] * 4] * 2)
    with pytest.raises(MXNetError):
        npx.fully_connected(X, WEIGHT, num_hidden=4, no_bias=False)
    with pytest.raises(MXNetError):
        npx.fully_connected(X, WEIGHT)


def test_windows():
    kernel = np.ones((1, 1, 3, 3))
    close(npx.convolution(IMAGE, kernel, np.ones(1), kernel=(3, 3)), [[[[46, 55], [82, 91]]]])
    close(
        npx.convolution(IMAGE, kernel, None, (3, 3), None, None, (1, 1), no_bias=True)[
            ..., 1:3, 1:3
        ],
        [[[[45, 54], [81, 90]]]],
    )
    assert npx.deconvolution(IMAGE, kernel, np.ones(1), kernel=(3, 3)).shape == (1, 1, 6, 6)
    close(npx.pooling(IMAGE, (2, 2), (2, 2)), [[[[5, 7], [13, 15]]]])
    close(npx.pooling(IMAGE, (2, 2), (2, 2), None, "avg"), [[[[2.5, 4.5], [10.5, 12.5]]]])
    close(npx.pooling(IMAGE, global_pool=True), [[[[15]]]])


def test_defaults_of_mxnet_2():
    spread = np.array([[[0.0, 1.0], [0.0, 3.0]]])
    gamma, beta = np.ones(2), np.zeros(2)
    data = spread.asnumpy()
    want = (data - data.mean()) / onp.sqrt(data.var() + 1e-3)
    close(npx.group_norm(spread, gamma, beta), want)
    close(
        npx.group_norm(spread, gamma, beta, eps=1e-5), want * onp.sqrt((1.5 + 1e-3) / (1.5 + 1e-5))
    )
    mean, var = np.zeros(2), np.ones(2)
    close(
        npx.batch_norm(x=spread, gamma=gamma, beta=beta, running_mean=mean, running_var=var),
        data / onp.sqrt(1.001),
    )
    close(npx.activation(np.array([-1.0, 2.0])), [0, 2])
    close(npx.leaky_relu(np.array([-1.0, 2.0])), [-0.25, 2])


def test_order_of_parameters():
    close(npx.pick(X * np.arange(3), np.array([1, 2]), -1, "clip", True), [[1], [2]])
    close(npx.one_hot(data=np.array([0, 7]), depth=3, on_value=2.0), [[2, 0, 0], [0, 0, 0]])
    assert npx.one_hot(np.array([1]), 3, 1.0, 0.0, "int32").dtype == "int32"
    close(
        npx.batch_dot(a=np.ones((1, 2, 3)), b=np.ones((1, 2, 3)), transpose_b=True), [[[3] * 2] * 2]
    )
    close(npx.embedding(np.array([2, 0]), WEIGHT * 2, 4, 3), [[2] * 3] * 2)
    close(npx.arange_like(X, 1.0, 2.0, axis=1), [1, 3, 5])
    parameters = np.ones(36)
    actual = npx.rnn(
        np.ones((2, 1, 3)),
        parameters,
        np.zeros((1, 1, 4)),
        mode="rnn_tanh",
        state_size=4,
        num_layers=1,
    )
    assert actual.shape == (2, 1, 4)
    close(npx.relu(X, name="any"), X.asnumpy())
    assert npx.nonzero(a=X).shape == (6, 2)


@pytest.mark.parametrize("axis", [-1, 0])
def test_softmax_of_the_first(axis):
    lengths = np.array([2, 3, 1] if axis == 0 else [1, 3], dtype="int32")
    data = onp.linspace(-1, 1, 9 if axis == 0 else 6, dtype="float32").reshape(-1, 3)
    rows = data.T if axis == 0 else data
    want = onp.zeros_like(rows)
    for row, kept, length in zip(want, rows, lengths.tolist(), strict=True):
        powers = onp.exp(kept[:length])
        row[:length] = powers / powers.sum()
    want = want.T if axis == 0 else want
    close(npx.softmax(np.array(data), lengths, axis, None, True), want)
    with onp.errstate(divide="ignore"):
        close(npx.log_softmax(np.array(data), axis, lengths, None, True), onp.log(want))
    with pytest.raises((MXNetError, ValueError)):
        npx.log_softmax(np.array(data), axis, lengths)


def test_operators_of_contrib_are_there():
    boxes = np.array([[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.5, 1.0]])
    close(npx.box_iou(boxes, boxes), [[1, 0.5], [0.5, 1]])
    close(npx.softsign(np.array([-1.0, 3.0])), [-0.5, 0.75])
    close(npx.norm(np.array([3.0, 4.0])), [5])
    close(npx.broadcast_greater(np.array([[1.0], [3.0]]), np.array([2.0])), [[0], [1]])
    x = np.array([0.6, -1.7])
    x.attach_grad()
    with mx.autograd.record():
        rounded = npx.round_ste(x) * 2
    rounded.backward()
    close(rounded, [2, -4])
    close(x.grad, [2, 2])
    assert npx.scalar_poisson(lam=4.0, shape=(3,)).shape == (3,)
    assert npx.tensor_poisson(np.array([1.0, 2.0]), shape=3).shape == (2, 3)
