"""Head gradients of backward, and gradients that do not depend on the variable."""

import pytest

import mxcy as mx
from mxcy import autograd, nd


def through_stack(head):
    """The gradient of x for a head gradient of ``stack(x, 2 * x)``."""
    x = nd.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        pair = nd.stack(x, 2 * x)
    pair.backward(head)
    return x.grad.asnumpy().tolist()


def recorded():
    x = nd.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        return x * 2


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
def test_head_gradients_may_have_any_dtype(dtype):
    assert through_stack(nd.array([[1, 2], [3, 4]], dtype=dtype)) == [7, 10]


def test_larger_head_gradients_give_their_leading_elements():
    assert through_stack(nd.array([[1, 2], [3, 4], [5, 6]])) == [7, 10]
    assert through_stack(nd.array([1, 2, 3, 4])) == [7, 10]


def test_smaller_head_gradients_are_refused():
    with pytest.raises(mx.MXNetError, match=r"shape \(2, 2\), got \(1, 2\)"):
        through_stack(nd.ones((1, 2)))
    with pytest.raises(TypeError, match="head gradient of type NDArray, got list"):
        autograd.backward(recorded(), [[1.0, 2.0]])


@pytest.mark.parametrize("operator", [nd.radians, nd.identity, lambda x: x * 3, nd.floor])
def test_gradients_that_do_not_depend_on_the_variable_have_zero_gradients(operator):
    x = nd.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = operator(x)
        (slope,) = autograd.grad(y, x, nd.ones((2,)), create_graph=True)
    slope.backward(nd.ones((2,)))
    assert x.grad.asnumpy().tolist() == [0, 0]
