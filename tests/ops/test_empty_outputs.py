"""Operators with empty outputs end at once, however long their other axes are."""

import pytest

import mxcy as mx

LONG = 2**40
IMAGES = (1, 0, 6, 6)
nd = mx.nd


@pytest.fixture(autouse=True)
def zeros_are_extents():
    with mx.util.np_shape(True):
        yield


@pytest.mark.parametrize(
    ("compute", "shape"),
    [
        (lambda: nd.softmax(nd.zeros((0, LONG)), axis=0), (0, LONG)),
        (lambda: nd.sort(nd.zeros((LONG, 0)), axis=1), (LONG, 0)),
        (lambda: nd.one_hot(nd.zeros(0), depth=2**31 - 1), (0, 2**31 - 1)),
        (lambda: nd.batch_dot(nd.zeros((LONG, 0, 3)), nd.zeros((LONG, 3, 0))), (LONG, 0, 0)),
        (lambda: nd.linalg.potrf(nd.zeros((LONG, 0, 0))), (LONG, 0, 0)),
        (lambda: mx.np.linalg.inv(mx.np.zeros((LONG, 0, 0))), (LONG, 0, 0)),
        (
            lambda: nd.ROIPooling(nd.zeros(IMAGES), nd.zeros((3, 5)), (2, 2**31 - 1), 1.0),
            (3, 0, 2, 2**31 - 1),
        ),
        (
            lambda: nd.contrib.ROIAlign(nd.zeros(IMAGES), nd.zeros((3, 5)), (2, 2**31 - 1), 1.0),
            (3, 0, 2, 2**31 - 1),
        ),
        (
            lambda: nd.SpatialTransformer(
                nd.zeros(IMAGES), nd.zeros((1, 6)), (2**18, 2**18), "affine", "bilinear"
            ),
            (1, 0, 2**18, 2**18),
        ),
    ],
)
def test_long_axes(compute, shape):
    result = compute()
    result.wait_to_read()
    assert result.shape == shape


def test_gradients():
    x = nd.zeros((0, LONG))
    x.attach_grad()
    with mx.autograd.record():
        y = nd.log_softmax(nd.exp(x), axis=0)
    y.backward()
    assert x.grad.asnumpy().shape == (0, LONG)


def test_graphs():
    x = mx.sym.Variable("x")
    product = mx.sym.softmax(mx.sym.batch_dot(x, x, transpose_b=True), axis=0)
    executor = product.bind(mx.cpu(), {"x": nd.zeros((LONG, 0, 3))}, {"x": nd.zeros((LONG, 0, 3))})
    assert executor.forward(is_train=True)[0].asnumpy().shape == (LONG, 0, 0)
    executor.backward(nd.zeros((LONG, 0, 0)))
    assert executor.grad_dict["x"].asnumpy().shape == (LONG, 0, 3)
