"""Operators of contrib that MXNet lacks on CPUs, and composite functions."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd
from mxcy.base import MXNetError

RNG = np.random.default_rng(3)


def test_fft_is_numpys():
    x = RNG.normal(size=(3, 8)).astype("float32")
    pairs = mx.nd.contrib.fft(mx.nd.array(x)).asnumpy()
    want = np.fft.fft(x)
    np.testing.assert_allclose(pairs[:, ::2], want.real, atol=1e-5)
    np.testing.assert_allclose(pairs[:, 1::2], want.imag, atol=1e-5)


def test_ifft_undoes_fft_but_for_the_length():
    x = mx.nd.array(RNG.normal(size=(2, 3, 1, 10)))
    again = mx.nd.contrib.ifft(mx.nd.contrib.fft(x, compute_size=4)) / 10
    np.testing.assert_allclose(again.asnumpy(), x.asnumpy(), rtol=1e-5, atol=1e-6)
    with pytest.raises(MXNetError, match="last dimension of odd size"):
        mx.nd.contrib.ifft(mx.nd.zeros((2, 5)))
    with pytest.raises(MXNetError, match="2 or 4 dimensions"):
        mx.nd.contrib.fft(mx.nd.zeros(4))


def test_count_sketch():
    data = mx.nd.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    places, signs = mx.nd.array([[0, 3, 0]]), mx.nd.array([[1, -1, -1]])
    actual = mx.nd.contrib.count_sketch(data, places, signs, out_dim=4)
    np.testing.assert_array_equal(actual.asnumpy(), [[-2, 0, 0, -2], [-2, 0, 0, -5]])


def test_dynamic_reshape_is_differentiable():
    data = mx.nd.arange(6)
    data.attach_grad()
    with autograd.record():
        out = mx.nd.contrib.dynamic_reshape(data, mx.nd.array([-1, 2], dtype="int64"))
        loss = (out * out).sum()
    loss.backward()
    assert out.shape == (3, 2)
    np.testing.assert_array_equal(data.grad.asnumpy(), 2 * np.arange(6))


def test_rand_zipfian_on_both_sides():
    true = mx.nd.array([0, 3])
    mx.random.seed(4)
    samples, of_true, of_samples = mx.nd.contrib.rand_zipfian(true, 1000, 20)
    assert samples.dtype == np.int64 and samples.shape == (1000,)
    drawn = samples.asnumpy()
    assert drawn.min() >= 0 and drawn.max() < 20
    share = np.log((drawn + 2) / (drawn + 1)) / np.log(21) * 1000
    np.testing.assert_allclose(of_samples.asnumpy(), share)
    assert abs((drawn == 0).sum() / of_true.asnumpy()[0] - 1) < 0.2
    symbols = mx.sym.Group(list(mx.sym.contrib.rand_zipfian(mx.sym.var("x"), 1000, 20)))
    mx.random.seed(4)
    again = symbols.eval(ctx=mx.cpu(), x=true)
    for one, other in zip(again, (samples, of_true, of_samples), strict=True):
        np.testing.assert_array_equal(one.asnumpy(), other.asnumpy())


def test_binomial_and_categorical():
    mx.random.seed(1)
    one = mx.nd.random.binomial(n=10, p=0.5, shape=(3, 2))
    assert one.shape == (3, 2) and one.dtype == np.float32
    many = mx.nd.random.binomial(mx.nd.array([4, 100]), mx.nd.array([0.0, 1.0]), shape=3)
    np.testing.assert_array_equal(many.asnumpy(), [[0] * 3, [100] * 3])
    symbol = mx.sym.random.binomial(n=7, p=1.0, shape=(2,))
    np.testing.assert_array_equal(symbol.eval(ctx=mx.cpu())[0].asnumpy(), [7, 7])
    certain = mx.nd.array([[0.0, 1.0], [1.0, 0.0]])
    np.testing.assert_array_equal(mx.nd.random.categorical(certain).asnumpy(), [1, 0])
    indices, logs = mx.nd.sample_categorical(certain, get_prob=True)
    np.testing.assert_array_equal(indices.asnumpy(), [1, 0])
    np.testing.assert_array_equal(logs.asnumpy(), [0, 0])


def test_density_refuses_mismatched_shapes():
    with pytest.raises(MXNetError, match="argument mu"):
        mx.nd.random_pdf_normal(mx.nd.zeros((2, 3)), mx.nd.zeros(3), mx.nd.ones(3))
    with pytest.raises(MXNetError, match="argument alpha"):
        mx.nd.random_pdf_dirichlet(mx.nd.ones((2, 3)), mx.nd.ones((2, 4)))


def test_getnnz_refuses_dense_arrays():
    with pytest.raises(MXNetError, match="getnnz.*data: expected a csr array, got a dense one"):
        mx.nd.contrib.getnnz(mx.nd.ones((2, 3)))
    executor = mx.sym.contrib.getnnz(mx.sym.var("x")).simple_bind(mx.cpu(), x=(2, 3))
    with pytest.raises(MXNetError, match="expected a csr array"):
        executor.forward()[0].asnumpy()
