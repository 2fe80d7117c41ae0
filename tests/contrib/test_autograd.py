"""The first interface of automatic differentiation."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.base import MXNetError
from mxcy.contrib import autograd


def test_grad_and_loss():
    x, y = mx.nd.array([1.0, 2.0]), mx.nd.array([3.0, 4.0])
    grads, loss = autograd.grad_and_loss(lambda x, y: x * x * y)(x, y)
    assert loss.asnumpy().tolist() == [3, 16]
    assert [g.asnumpy().tolist() for g in grads] == [[6, 16], [1, 4]]
    (only,) = autograd.grad(lambda x, y: x * y, argnum=1)(x, y)
    assert only.asnumpy().tolist() == [1, 2]
    chosen = autograd.grad(lambda x, y: [x * y, x], argnum=[0])(x, y)
    assert chosen[0].asnumpy().tolist() == [4, 5]
    with pytest.raises(MXNetError, match="argument 0 must be an NDArray"):
        autograd.grad(lambda x: x)(1.0)


def test_sections():
    x = mx.nd.ones(1000)
    grad = mx.nd.zeros(1000)
    autograd.mark_variables([x], [grad])
    with autograd.train_section():
        assert mx.autograd.is_recording() and mx.autograd.is_training()
        dropped = mx.nd.Dropout(x, p=0.5)
        with autograd.test_section():
            assert not mx.autograd.is_recording() and not mx.autograd.is_training()
        assert mx.autograd.is_recording()
    assert not mx.autograd.is_recording()
    autograd.backward([dropped], [mx.nd.full(1000, 2)], retain_graph=True)
    np.testing.assert_array_equal(grad.asnumpy(), 2 * dropped.asnumpy())
    autograd.compute_gradient([dropped])
    np.testing.assert_array_equal(grad.asnumpy(), dropped.asnumpy())
    with pytest.raises(MXNetError, match="list or tuple"):
        autograd.backward(dropped)
    with pytest.raises(MXNetError, match="1 outputs, but 2"):
        autograd.backward([dropped], [None, None])


def test_state_before():
    assert autograd.set_is_training(True) is False
    assert autograd.set_is_training(False) is True
