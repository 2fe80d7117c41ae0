"""Operator functions accept arguments like Python functions, on both fronts."""

import copy
import inspect
import pickle
import pydoc

import numpy as np
import pytest

import mxcy as mx
from mxcy import nd


@pytest.fixture
def layer():
    """Arguments of a small FullyConnected, and its result."""
    random = np.random.default_rng(3)
    data, weight, bias = (random.random(s, dtype="f4") for s in ((2, 3), (4, 3), (4,)))
    return [nd.array(a) for a in (data, weight, bias)], data @ weight.T + bias


@pytest.mark.parametrize(
    "call",
    [
        lambda d, w, b: nd.FullyConnected(d, w, b, 4),
        lambda d, w, b: nd.FullyConnected(d, w, b, num_hidden=4),
        lambda d, w, b: nd.FullyConnected(d, w, num_hidden=4, bias=b),
        lambda d, w, b: nd.FullyConnected(num_hidden="4", bias=b, weight=w, data=d, name="fc"),
        lambda d, w, b: nd.FullyConnected(d, w, b, 4, False, flatten=True),
        lambda d, w, b: nd.FullyConnected(*(d, w), **{"bias": b, "num_" + "hidden": 4}),
        lambda d, w, b: nd.FullyConnected(d, w, b, 4, False, True, nd.empty((2, 4)), "fc"),
    ],
)
def test_arguments_by_place_and_by_name(layer, call):
    arrays, expected = layer
    np.testing.assert_allclose(call(*arrays).asnumpy(), expected, rtol=1e-6)


def test_out_by_place_and_by_name(layer):
    arrays, expected = layer
    first, second = nd.empty((2, 4)), nd.empty((2, 4))
    assert nd.FullyConnected(*arrays, 4, False, True, first) is first
    assert nd.FullyConnected(*arrays, num_hidden=4, out=second) is second
    for out in (first, second):
        np.testing.assert_allclose(out.asnumpy(), expected, rtol=1e-6)


def test_inputs_that_are_left_out(layer):
    (data, weight, bias), expected = layer
    plain = nd.FullyConnected(data, weight, num_hidden=4, no_bias=True)
    np.testing.assert_allclose((plain + bias).asnumpy(), expected, rtol=1e-6)
    with pytest.raises(mx.base.MXNetError, match="exp: argument data is missing"):
        nd.exp()
    with pytest.raises(TypeError, match="exp: argument data must have NDArray type"):
        nd.exp(3)


def test_arguments_that_no_function_takes():
    a = nd.ones(2)
    with pytest.raises(TypeError, match="multiple values for argument 'data'"):
        nd.exp(a, data=a)
    with pytest.raises(TypeError, match="takes from 0 to 3 positional arguments but 5 were given"):
        nd.exp(a, None, None, None, None)
    with pytest.warns(UserWarning, match="exp has no argument colour"):
        nd.exp(a, colour=3)


def test_methods():
    a = nd.array([0.0, 1.0])
    bound = a.exp
    np.testing.assert_array_equal(bound().asnumpy(), nd.exp(a).asnumpy())
    np.testing.assert_array_equal(type(a).exp(a).asnumpy(), nd.exp(a).asnumpy())
    assert a.clip(a_min=0, a_max=0.5).asnumpy().tolist() == [0, 0.5]


def test_function_metadata():
    exp = nd.exp
    assert (exp.__name__, exp.__qualname__, exp.__module__) == ("exp", "exp", "mxcy.ndarray")
    assert repr(exp).startswith("<function exp at 0x")
    assert callable(exp) and inspect.isroutine(exp)
    assert str(inspect.signature(exp)) == "(data=None, out=None, name=None, **kwargs)"
    assert "exp(data=None, out=None, name=None, **kwargs)" in pydoc.plain(pydoc.render_doc(exp))
    assert pickle.loads(pickle.dumps(exp)) is exp and copy.deepcopy(exp) is exp
