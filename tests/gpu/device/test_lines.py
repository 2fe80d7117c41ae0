"""Reductions and softmax by our kernels against the CPU."""

import numpy as np
import pytest

import mxcy as mx
from tests.gpu.device.test_launches import launches

GPU = mx.gpu(0)


def both(function, *values):
    """A function's results on the CPU and, with one launch, on the GPU."""
    results = []
    for ctx in (mx.cpu(), GPU):
        arrays = [mx.nd.array(v, ctx=ctx) for v in values]
        function(*arrays)
        arrays = [mx.nd.array(v, ctx=ctx) for v in values]
        before = launches()
        result = function(*arrays)
        results.append([a.asnumpy() for a in (*(result or ()), *arrays)])
    assert launches() == before + 1
    return results


@pytest.fixture
def x():
    return np.random.default_rng(0).standard_normal((3, 70, 5)).astype(np.float32)


@pytest.mark.parametrize("axis", [0, 1, (0, 2), None])
@pytest.mark.parametrize("name", ["sum", "mean", "max"])
def test_reductions(x, name, axis):
    x[0, 3, 2] = 9
    host, device = both(lambda a: [getattr(mx.nd, name)(a, axis=axis)], x)
    np.testing.assert_allclose(device[0], host[0], rtol=1e-6, atol=1e-6)


def test_maxima_keep_nan(x):
    x[1, 2, 3] = np.nan
    host, device = both(lambda a: [mx.nd.max(a, axis=1)], x)
    np.testing.assert_array_equal(device[0], host[0])


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax(x, name, axis):
    host, device = both(lambda a: [getattr(mx.nd, name)(a, axis=axis)], 5 * x)
    np.testing.assert_allclose(device[0], host[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_gradient_of_softmax(x, name):
    results = []
    for ctx in (mx.cpu(), GPU):
        array, head = mx.nd.array(x, ctx=ctx), mx.nd.array(x[::-1], ctx=ctx)
        array.attach_grad()
        with mx.autograd.record():
            result = getattr(mx.nd, name)(array, axis=1)
        result.backward(head)
        results.append(array.grad.asnumpy())
    np.testing.assert_allclose(results[1], results[0], rtol=1e-4, atol=1e-5)
