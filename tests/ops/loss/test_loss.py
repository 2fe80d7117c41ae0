"""Output operators with an implicit loss: errors, and cases beyond the golden values."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.base import MXNetError

X = mx.nd.array([[0.5, -1.0, 2.0], [1.0, 0.0, -0.5]])
IMAGE = mx.nd.zeros((2, 3, 4))


@pytest.mark.parametrize(
    ("call", "message"),
    (
        (
            lambda: mx.nd.SoftmaxOutput(X, mx.nd.zeros((3,))),
            r"SoftmaxOutput: argument label: expected shape \(2,\), got \(3,\)",
        ),
        (
            lambda: mx.nd.SoftmaxOutput(X, mx.nd.zeros((2,), dtype="int32")),
            r"SoftmaxOutput: argument label: expected dtype float32",
        ),
        (lambda: mx.nd.SoftmaxOutput(mx.nd.zeros((3,)), mx.nd.zeros((3,))), r"at least 2 dim"),
        (
            lambda: mx.nd.SoftmaxOutput(IMAGE, mx.nd.zeros((8,)), multi_output=True),
            r"argument label: expected shape \(2, 4\)",
        ),
        (lambda: mx.nd.SoftmaxOutput(X, X, normalization="some"), r"normalization='some'"),
        (
            lambda: mx.nd.LinearRegressionOutput(X, mx.nd.zeros((6,))),
            r"LinearRegressionOutput: argument label: expected shape \(2, 3\), got \(6,\)",
        ),
        (lambda: mx.nd.SVMOutput(X, mx.nd.zeros((3,))), r"SVMOutput: argument label"),
        (lambda: mx.nd.softmax_cross_entropy(IMAGE, X), r"softmax_cross_entropy: data.*2 dim"),
    ),
)
def test_bad_input_is_named(call, message):
    with pytest.raises(MXNetError, match=message):
        call()


def gradient(function, data, head=None):
    data.attach_grad()
    with mx.autograd.record():
        out = function(data)
    out.backward(head)
    return data.grad.asnumpy()


def test_softmax_output_ignores_head_gradients():
    label = mx.nd.array([1, 2])
    plain = gradient(lambda x: mx.nd.SoftmaxOutput(x, label), X.copy())
    above = gradient(lambda x: mx.nd.SoftmaxOutput(x, label) * 5 + 1, X.copy())
    np.testing.assert_array_equal(plain, above)


def test_softmax_output_multiplies_by_head_gradients_with_out_grad():
    label, head = mx.nd.array([1, 2]), mx.nd.array([[1, 2, 3], [4, 5, 6]])
    plain = gradient(lambda x: mx.nd.SoftmaxOutput(x, label), X.copy())
    actual = gradient(lambda x: mx.nd.SoftmaxOutput(x, label, out_grad=True), X.copy(), head)
    np.testing.assert_allclose(actual, plain * head.asnumpy(), rtol=1e-6)


@pytest.mark.parametrize(
    "call",
    (
        lambda x: mx.nd.MakeLoss(x),
        lambda x: mx.nd.LinearRegressionOutput(x, mx.nd.zeros((2, 3))),
        lambda x: mx.nd.SVMOutput(x, mx.nd.array([1, 2])),
    ),
)
def test_outputs_are_the_data_and_no_view_of_it(call):
    data = X.copy()
    out = call(data)
    np.testing.assert_array_equal(out.asnumpy(), X.asnumpy())
    data[:] = 7
    np.testing.assert_array_equal(out.asnumpy(), X.asnumpy())


def test_sparse_regularisation_moves_its_average_in_the_backward_pass():
    data = mx.nd.array([[0.2, 0.8], [0.4, 0.6]])
    average = mx.nd.array([0.5, 0.5])
    data.attach_grad()
    with mx.autograd.record():
        out = mx.nd.IdentityAttachKLSparseReg(
            data, average, sparseness_target=0.1, penalty=0.01, momentum=0.9
        )
    np.testing.assert_array_equal(average.asnumpy(), np.float32([0.5, 0.5]))
    out.backward()
    moved = np.array([0.48, 0.52])
    np.testing.assert_allclose(average.asnumpy(), moved, rtol=1e-6)
    want = 1 + 0.01 * (0.9 / (1 - moved) - 0.1 / moved)
    np.testing.assert_allclose(data.grad.asnumpy(), np.stack([want, want]), rtol=1e-6)


def test_absolute_error_falls_where_data_equal_the_label():
    """As in MXNet 1.9.1: the gradient is never 0."""
    x = mx.nd.array([[1.0, -2.0, 0.5, 3.0]])
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.MAERegressionOutput(x, mx.nd.ones((1, 4)), grad_scale=8)
    y.backward()
    assert x.grad.asnumpy().tolist() == [[-2, -2, -2, 2]]
