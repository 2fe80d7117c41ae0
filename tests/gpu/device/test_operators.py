"""Operators on gpu(0): results, gradients, order, random numbers, and asynchronous errors."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.base import MXNetError

GPU = mx.gpu(0)


@pytest.fixture
def x():
    return np.random.default_rng(0).standard_normal((4, 6)).astype(np.float32)


FUNCTIONS = {
    "arithmetic": lambda a: (a + 1) * a - a / 3,
    "exp": mx.nd.exp,
    "softmax": lambda a: mx.nd.softmax(a, axis=1),
    "sum": lambda a: a.sum(axis=0),
    "transpose": lambda a: a.T.reshape((-1,)),
    "concat": lambda a: mx.nd.concat(a, a * 2, dim=1),
    "dot": lambda a: mx.nd.dot(a, a.T),
    "argmax": lambda a: a.argmax(axis=1),
    "FullyConnected": lambda a: mx.nd.FullyConnected(a, a, num_hidden=4, no_bias=True),
    "topk, which CuPy does by Thrust": lambda a: mx.nd.topk(a, k=2, axis=1),
    "erf, which CuPy cannot trace": mx.nd.erf,
    "where": lambda a: mx.nd.where(a > 0, a, -a),
    "batch_dot": lambda a: mx.nd.batch_dot(a.reshape((2, 2, 6)), a.reshape((2, 6, 2))),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results(x, name):
    function = FUNCTIONS[name]
    result = function(mx.nd.array(x, ctx=GPU))
    assert result.context == GPU
    expected = function(mx.nd.array(x)).asnumpy()
    np.testing.assert_allclose(result.asnumpy(), expected, rtol=2e-5, atol=2e-6)


def test_outputs_in_place(x):
    array = mx.nd.array(x, ctx=GPU)
    mx.nd.broadcast_add(array, array, out=array)
    array *= 3
    np.testing.assert_allclose(array.asnumpy(), x * 6, rtol=1e-6)


def test_mutated_inputs(x):
    weight, gradient = mx.nd.array(x, ctx=GPU), mx.nd.array(x * 2, ctx=GPU)
    momentum = mx.nd.zeros(x.shape, ctx=GPU)
    mx.nd.sgd_mom_update(weight, gradient, momentum, lr=0.5, momentum=0.9, out=weight)
    np.testing.assert_allclose(momentum.asnumpy(), -x, rtol=1e-6)
    np.testing.assert_allclose(weight.asnumpy(), 0 * x, atol=1e-6)


def test_gradients(x):
    results = []
    for ctx in (mx.cpu(), GPU):
        array = mx.nd.array(x, ctx=ctx)
        array.attach_grad()
        with mx.autograd.record():
            loss = (mx.nd.softmax(array, axis=1) * mx.nd.tanh(array)).sum()
        loss.backward()
        assert array.grad.context == ctx
        results.append(array.grad.asnumpy())
    np.testing.assert_allclose(results[1], results[0], rtol=1e-5, atol=1e-6)


def test_random_numbers_lie_on_the_device():
    mx.random.seed(3)
    first = mx.nd.random.uniform(shape=(100,), ctx=GPU)
    assert first.context == GPU
    assert 0.3 < first.asnumpy().mean() < 0.7
    mx.random.seed(3)
    again = mx.nd.random.uniform(shape=(100,), ctx=GPU)
    np.testing.assert_array_equal(first.asnumpy(), again.asnumpy())
    drawn = mx.nd.sample_normal(mx.nd.zeros((2,), ctx=GPU), mx.nd.ones((2,), ctx=GPU), shape=50)
    assert drawn.context == GPU
    assert abs(drawn.asnumpy().mean()) < 0.5


def test_errors_are_raised_where_one_waits(x):
    array = mx.nd.array(x, ctx=GPU)
    places, ones = mx.np.array([[9], [0]], ctx=GPU), mx.np.ones((1,), ctx=GPU)
    written = mx.npx.index_update(array.as_np_ndarray(), places, ones)
    after = written + 1  # it propagates the error
    for failed in (written, after):
        with pytest.raises((MXNetError, IndexError), match="index_update"):
            failed.wait_to_read()
    mx.nd.waitall()  # which has been raised
    np.testing.assert_array_equal((array + 0).asnumpy(), x)


def test_order_with_operations_of_the_host(x):
    """Copies in both directions are ordered with operations."""
    array, host = mx.nd.array(x, ctx=GPU), mx.nd.array(x)
    for _ in range(5):
        array = array * 2
        host = array.as_in_context(mx.cpu()) + 1
        array[:] = host
    expected = x.copy()
    for _ in range(5):
        expected = expected * 2 + 1
    np.testing.assert_allclose(array.asnumpy(), expected, rtol=1e-6)
