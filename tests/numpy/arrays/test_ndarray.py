"""The array class: what it shares with `mx.nd`, its repr, its use as a number."""

import copy
import pickle

import numpy as onp
import pytest

import mxcy as mx
from mxcy import autograd

np = mx.np


def test_it_is_an_array_of_nd_too():
    array = np.ones((2, 3))
    assert isinstance(array, mx.nd.NDArray) and type(array) is np.ndarray
    assert array.dtype is onp.dtype("float32") and np.float32 == array.dtype
    assert array.itemsize == 4 and array.nbytes == 24
    array.anything = 1
    assert array.anything == 1


def test_both_classes_share_memory_gradient_and_history():
    array = np.ones(3)
    array.attach_grad()
    classic = array.as_nd_ndarray()
    assert type(classic) is mx.nd.NDArray and classic.as_nd_ndarray() is classic
    assert array.as_np_ndarray() is array
    with autograd.record():
        loss = (classic * 2).as_np_ndarray().sum() + array.sum()
    loss.backward()
    assert array.grad.tolist() == [3, 3, 3] and type(array.grad) is np.ndarray
    classic[:] = 5
    assert array.tolist() == [5, 5, 5]


def test_views_and_results_have_the_class_of_their_base():
    array = np.arange(6).reshape(2, 3)
    for made in (array[0], array[0:1], array.detach(), array.copy(), array.T, array + 1, -array):
        assert type(made) is np.ndarray
    for made in (array.astype("int32"), array.as_in_ctx(mx.cpu()), array.copyto(mx.cpu())):
        assert type(made) is np.ndarray
    classic = mx.nd.ones(3)
    assert type(classic + 1) is mx.nd.NDArray and type(classic[0:1]) is mx.nd.NDArray
    out = mx.nd.zeros(3)
    assert np.exp(np.ones(3), out=out) is out


@pytest.mark.parametrize("name", ["exp", "asscalar", "expand_dims", "one_hot", "softmax", "topk"])
def test_methods_of_nd_that_are_hidden(name):
    assert hasattr(mx.nd.ones(1), name) and not hasattr(np.ones(1), name)
    with pytest.raises(AttributeError, match="object has no attribute"):
        getattr(np.ones(1), name)


def test_text():
    assert repr(np.ones(2)) == "array([1., 1.])"
    assert repr(np.ones(2, "int32")) == "array([1, 1], dtype=int32)"
    assert repr(np.ones(2) > 0) == "array([ True,  True])"
    assert repr(np.zeros((0, 3))) == "array([], shape=(0, 3))"
    assert str(np.ones(2)) == "[1. 1.]"
    assert f"{np.array(2.5):.2f}" == "2.50" and f"{np.ones(2)}" == "[1. 1.]"
    with pytest.raises(TypeError):
        format(np.ones(2), ".2f")


def test_as_a_number():
    assert bool(np.array(2.0)) and not bool(np.zeros(()))
    assert int(np.array([[3.7]])) == 3 and float(np.array([2.5])) == 2.5
    assert [10, 20, 30][np.array(1, "int32")] == 20
    for wrong in (np.array(1.0), np.array([1], "int32")):
        with pytest.raises(TypeError):
            wrong.__index__()
    with pytest.raises(ValueError):
        bool(np.ones(2))
    with pytest.raises(TypeError):
        len(np.array(1.0))
    with pytest.raises(NotImplementedError):
        hash(np.ones(1))
    assert np.arange(6).reshape(2, 3).item(1, 2) == 5 and 3 in np.arange(5)


def test_in_place_keeps_the_element_type():
    array = np.ones(3, "int32")
    same = array
    array += 2
    array *= np.full(3, 3, "int32")
    assert array is same and array.tolist() == [9, 9, 9]
    with pytest.raises(mx.MXNetError):
        array += 1.5
    with pytest.raises(mx.MXNetError):
        array /= 2
    with pytest.raises(mx.MXNetError):
        array += np.ones((2, 3), "int32")


def test_pickles_and_copies():
    array = np.arange(4).astype("int64")
    for made in (pickle.loads(pickle.dumps(array)), copy.copy(array), copy.deepcopy(array)):
        assert type(made) is np.ndarray and made.dtype == array.dtype
        assert made.tolist() == array.tolist()


def test_gradients_of_mixed_types():
    single, double = np.ones(3), np.full(3, 2.0, "float64")
    single.attach_grad()
    double.attach_grad()
    with autograd.record():
        result = (single * double + np.exp(single) * np.array([1, 2, 3], "int32")).sum()
    result.backward()
    assert single.grad.dtype == "float32" and double.grad.dtype == "float64"
    onp.testing.assert_allclose(double.grad.asnumpy(), [1, 1, 1])
    onp.testing.assert_allclose(single.grad.asnumpy(), 2 + onp.e * onp.array([1, 2, 3]), rtol=1e-6)


def test_second_derivatives():
    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = (x**3).sum()
        (first,) = autograd.grad(y, [x], create_graph=True)
        assert type(first) is np.ndarray
        total = first.sum()
    total.backward()
    assert x.grad.tolist() == [6, 12]


def test_writing_while_recording():
    x, fresh = np.ones(3), np.zeros(3)
    x.attach_grad()
    with autograd.record():
        with pytest.raises(mx.MXNetError):
            x[0] = 1
        with pytest.raises(mx.MXNetError):
            x += 1
        fresh[:] = x * 3
    fresh.backward()
    assert x.grad.tolist() == [3, 3, 3]


def test_functions_of_a_users_own():
    class Twice(autograd.Function):
        def forward(self, x):
            return x * 2

        def backward(self, g):
            assert type(g) is np.ndarray
            return g * 2

    x = np.ones(3)
    x.attach_grad()
    with autograd.record():
        y = Twice()(x)
    y.backward()
    assert x.grad.tolist() == [2, 2, 2]


def test_power_product_and_mean_have_right_gradients_at_zero():
    x = np.array([0.0, 2.0, 3.0])
    x.attach_grad()
    with autograd.record():
        y = np.prod(x)
    y.backward()
    assert x.grad.tolist() == [6, 0, 0]
    exponent = np.array([2.0, 2.0, 2.0])
    exponent.attach_grad()
    with autograd.record():
        y = (x**exponent).sum()
    y.backward()
    assert exponent.grad.tolist()[0] == 0
