"""Samples of mx.np.random on gpu(0) with array parameters, and their derivatives."""

import numpy as np
import pytest

import mxcy as mx
from tests.gpu.device.test_launches import launches
from tests.gpu.standin.seam import is_chosen

GPU = mx.gpu(0)
ROWS = 3000

#: name -> arguments, the first array of which has a gradient; and the derivative of samples x
CASES = {
    "uniform": (lambda r, a: r.uniform(-1.0, a, size=(ROWS, 3)), lambda x, a: (x + 1) / (a + 1)),
    "normal": (lambda r, a: r.normal(0.5, a, size=(ROWS, 3)), lambda x, a: (x - 0.5) / a),
    "laplace": (lambda r, a: r.laplace(0.5, a, size=(ROWS, 3)), lambda x, a: (x - 0.5) / a),
    "gumbel": (lambda r, a: r.gumbel(0.5, a, size=(ROWS, 3)), lambda x, a: (x - 0.5) / a),
    "logistic": (lambda r, a: r.logistic(0.5, a, size=(ROWS, 3)), lambda x, a: (x - 0.5) / a),
    "exponential": (lambda r, a: r.exponential(a, size=(ROWS, 3)), lambda x, a: x / a),
    "rayleigh": (lambda r, a: r.rayleigh(a, size=(ROWS, 3)), lambda x, a: x / a),
    "weibull": (lambda r, a: r.weibull(a, size=(ROWS, 3)), lambda x, a: -x * np.log(x) / a),
    "pareto": (lambda r, a: r.pareto(a + 2, size=(ROWS, 3)), None),
    "power": (lambda r, a: r.power(a, size=(ROWS, 3)), lambda x, a: -x * np.log(x) / a),
    "gamma": (lambda r, a: r.gamma(2.0, a, size=(ROWS, 3)), lambda x, a: x / a),
}
PARAMETERS = np.array([0.8, 1.5, 2.5])


@pytest.fixture(autouse=True)
def seeded():
    mx.random.seed(7)


def drawn(function, ctx):
    """Return samples, and the gradient of the parameter array."""
    with mx.Context(ctx):
        parameters = mx.np.array(PARAMETERS, dtype="float64")
        parameters.attach_grad()
        with mx.autograd.record():
            x = function(mx.np.random, parameters)
        x.backward()
        assert x.context == parameters.grad.context == ctx
        return x.asnumpy(), parameters.grad.asnumpy()


@pytest.mark.parametrize("name", CASES)
def test_distributions_and_derivatives(name):
    function, derivative = CASES[name]
    results = [drawn(function, ctx) for ctx in (mx.cpu(), GPU)]
    (wanted, _), (x, gradient) = results
    assert x.shape == wanted.shape
    deviation = np.maximum(wanted.std(0), x.std(0)) * np.sqrt(2 / ROWS)
    assert (np.abs(x.mean(0) - wanted.mean(0)) < 5 * deviation).all()
    for part in (0.1, 0.5, 0.9):  # as many below as on the CPU
        edge = np.quantile(wanted, part, axis=0)
        assert (np.abs((x < edge).mean(0) - part) < 0.04).all()
    if derivative is not None:
        expected = derivative(x.astype("float64"), PARAMETERS).sum(0)
        np.testing.assert_allclose(gradient, expected, rtol=1e-3, atol=1e-3)


def test_both_parameters_are_broadcast():
    with mx.Context(GPU):
        low, high = mx.np.array([[0.0], [5.0]]), mx.np.array([1.0, 2.0, 3.0]) + 5
        x = mx.np.random.uniform(low, high, size=(500, 2, 3)).asnumpy()
    assert (x >= np.array([[0], [5]])).all()
    assert (x <= np.array([6, 7, 8])).all()
    middle = (np.array([[0], [5]]) + np.array([6, 7, 8])) / 2
    assert (np.abs(x.mean(0) - middle) < 0.6).all()


def test_truths():
    with mx.Context(GPU):
        chances = mx.np.array([0.0, 0.25, 1.0])
        x = mx.np.random.bernoulli(chances, size=(ROWS, 3)).asnumpy()
    np.testing.assert_allclose(x.mean(0), [0, 0.25, 1], atol=0.04)


def test_invalid_parameters_raise():
    for ctx in (mx.cpu(), GPU):
        with mx.Context(ctx), pytest.raises(ValueError, match="scale >= 0 is required"):
            mx.np.random.normal(0, mx.np.array([1.0, -1.0])).asnumpy()


@pytest.mark.skipif(not is_chosen(), reason="the stand-in counts launches")
def test_drawn_on_the_device():
    with mx.Context(GPU):
        scale = mx.np.array([1.0, 2.0])
        mx.np.random.normal(0.0, scale).wait_to_read()
        before = launches()
        mx.np.random.normal(0.0, scale).wait_to_read()
    assert launches() - before == 2
