"""Functions with user-defined gradients."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd


def variable(values):
    x = mx.nd.array(np.asarray(values, np.float32))
    x.attach_grad()
    return x


class Sigmoid(autograd.Function):
    """The example of MXNet's manual."""

    def forward(self, x):
        y = 1 / (1 + mx.nd.exp(-x))
        self.save_for_backward(y)
        return y

    def backward(self, dy):
        (y,) = self.saved_tensors
        return dy * y * (1 - y)


def test_function():
    x = variable([-1.0, 0.0, 2.0])
    with autograd.record():
        y = Sigmoid()(x) * 2
    y.backward()
    s = 1 / (1 + np.exp(-x.asnumpy()))
    np.testing.assert_allclose(x.grad.asnumpy(), 2 * s * (1 - s), rtol=1e-5)


def test_function_with_two_outputs_of_which_one_is_used():
    class Split(autograd.Function):
        def forward(self, x):
            return x * 2, x * 3

        def backward(self, first, second):
            return first * 2 + second * 3

    x = variable([1.0])
    with autograd.record():
        _, used = Split()(x)
    used.backward()
    assert x.grad.asscalar() == 3


def test_a_function_must_give_a_gradient_for_each_input():
    class Forgetful(autograd.Function):
        def forward(self, a, b):
            return a + b

        def backward(self, g):
            return g

    a, b = mx.nd.ones(2), mx.nd.ones(2)
    a.attach_grad()
    b.attach_grad()
    with autograd.record():
        c = Forgetful()(a, b)
    with pytest.raises(ValueError, match="Forgetful.backward: expected 2 gradients, .* got 1"):
        c.backward()


class Constant(autograd.Function):
    """The identity, with a given gradient."""

    def __init__(self, gradient):
        super().__init__()
        self.gradient = gradient

    def forward(self, x):
        return x * 1

    def backward(self, _):
        return self.gradient


def slope(gradient):
    x = variable([[1.0, 2.0], [3.0, 4.0]])
    with autograd.record():
        y = Constant(gradient)(x * 2)
    y.backward()
    return x.grad.asnumpy().tolist()


def test_gradients_of_a_function_are_broadcast_to_its_inputs():
    assert slope(mx.nd.array([3.0, 5.0])) == [[6, 10], [6, 10]]
    with pytest.raises(mx.MXNetError, match=r"Constant.backward: .*shape \(2, 2\).* got \(3,\)"):
        slope(mx.nd.ones(3))
    with pytest.raises(TypeError, match="Constant.backward must return NDArrays, got ndarray"):
        slope(np.ones((2, 2)))
