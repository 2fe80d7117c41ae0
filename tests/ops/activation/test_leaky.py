"""LeakyReLU: the shapes of prelu's slopes."""

import numpy as np
import pytest

import mxcy as mx

SHAPES = {  # of slopes, and how NumPy broadcasts them to (3, 4, 2)
    (1,): (1, 1, 1),
    (4,): (1, 4, 1),
    (3,): (3, 1, 1),
    (3, 4): (3, 4, 1),
    (1, 4): (1, 4, 1),
    (3, 1): (3, 1, 1),
    (1, 1): (1, 1, 1),
}


def draw(*shape):
    return mx.nd.array(np.random.RandomState(0).normal(size=shape))


@pytest.mark.parametrize("shape", SHAPES)
def test_slopes_broadcast_to_the_first_two_axes(shape):
    data, gamma = draw(3, 4, 2), draw(*shape)
    data.attach_grad()
    gamma.attach_grad()
    with mx.autograd.record():
        out = mx.nd.LeakyReLU(data, gamma, act_type="prelu")
    out.backward()
    x, slopes = data.asnumpy(), gamma.asnumpy().reshape(SHAPES[shape])
    np.testing.assert_allclose(out.asnumpy(), np.where(x > 0, x, slopes * x), rtol=1e-6)
    np.testing.assert_allclose(data.grad.asnumpy(), np.where(x > 0, 1, slopes + 0 * x), rtol=1e-6)
    axes = tuple(axis for axis, extent in enumerate(SHAPES[shape]) if extent == 1)
    expected = np.where(x > 0, 0, x).sum(axes).reshape(shape)
    np.testing.assert_allclose(gamma.grad.asnumpy(), expected, rtol=1e-5)


@pytest.mark.parametrize("shape", [(2,), (4, 3), (2, 2), (3, 4, 2)])
def test_other_slopes_are_refused(shape):
    with pytest.raises(mx.MXNetError, match="LeakyReLU: gamma"):
        mx.nd.LeakyReLU(draw(3, 4, 2), draw(*shape), act_type="prelu")


def test_slopes_of_symbols_are_those_of_channels():
    out = mx.sym.LeakyReLU(mx.sym.var("data"), act_type="prelu", name="p")
    arguments, _, _ = out.infer_shape(data=(3, 4, 2))
    assert arguments == [(3, 4, 2), (4,)]
    arguments, _, _ = out.infer_shape(data=(3, 4, 2), p_gamma=(3, 4))
    assert arguments == [(3, 4, 2), (3, 4)]
