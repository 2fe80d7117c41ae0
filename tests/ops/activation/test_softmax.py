"""Softmax and its relatives: errors, extreme values, second derivatives."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.base import MXNetError

X = mx.nd.array([[0.5, -1.0, 2.0], [1.0, 0.0, -0.5]])


@pytest.mark.parametrize(
    ("call", "message"),
    (
        (lambda: mx.nd.softmax(X.astype("int32")), r"softmax: data.*floating"),
        (lambda: mx.nd.softmax(X, axis=2), r"softmax: axis.*2 is out of bounds"),
        (lambda: mx.nd.log_softmax(X, axis=-3), r"log_softmax: axis"),
        (lambda: mx.nd.log_softmax(X, use_length=True), r"log_softmax: use_length"),
        (lambda: mx.nd.softmax(X, use_length=True), r"softmax: argument length is missing"),
        (
            lambda: mx.nd.softmax(X, mx.nd.array([1, 2]), use_length=True),
            r"softmax: length.*integer",
        ),
        (
            lambda: mx.nd.softmax(X, mx.nd.array([1, 2, 3], dtype="int32"), use_length=True),
            r"softmax: argument length: expected shape \(2,\)",
        ),
        (lambda: mx.nd.masked_softmax(X, X), r"masked_softmax: argument mask: expected dtype bool"),
        (
            lambda: mx.nd.masked_softmax(X, mx.nd.ones((2, 2), dtype="bool")),
            r"masked_softmax: mask.*broadcast",
        ),
    ),
)
def test_bad_input_is_named(call, message):
    with pytest.raises(MXNetError, match=message):
        call()


def test_rows_of_zero_length_are_zero():
    length = mx.nd.array([0, 2], dtype="int32")
    actual = mx.nd.softmax(X, length, use_length=True).asnumpy()
    assert not actual[0].any()
    np.testing.assert_allclose(actual[1], [0.7310586, 0.26894143, 0], rtol=1e-6)


def test_lengths_beyond_the_axis_take_all():
    length = mx.nd.array([3, 99], dtype="int64")
    actual = mx.nd.softmax(X, length, use_length=True).asnumpy()
    np.testing.assert_allclose(actual, mx.nd.softmax(X).asnumpy(), rtol=1e-6)


@pytest.mark.parametrize("name", ("softmax", "log_softmax", "softmin"))
def test_arrays_without_elements(name):
    with mx.util.np_shape():
        for shape in ((3, 0), (0, 3)):
            assert getattr(mx.nd, name)(mx.nd.zeros(shape)).shape == shape


@pytest.mark.parametrize("name", ("softmax", "log_softmax"))
def test_second_derivative(name):
    point = np.array([[0.3, -0.7, 1.1], [0.2, 0.1, -1.3]])
    weight = mx.nd.array([[1.0, -2.0, 0.5], [0.3, 2.0, -1.0]], dtype="float64")

    def slope(values):
        x = mx.nd.array(values, dtype="float64")
        x.attach_grad()
        with mx.autograd.record():
            y = (getattr(mx.nd, name)(x) * weight).sum()
            (first,) = mx.autograd.grad([y], [x], create_graph=True, retain_graph=True)
            z = (first * first).sum()
        z.backward()
        return z.asscalar(), x.grad.asnumpy()

    _, actual = slope(point)
    for i in np.ndindex(point.shape):
        step = np.zeros_like(point)
        step[i] = 1e-6
        want = (slope(point + step)[0] - slope(point - step)[0]) / 2e-6
        assert actual[i] == pytest.approx(want, rel=1e-5, abs=1e-8)
