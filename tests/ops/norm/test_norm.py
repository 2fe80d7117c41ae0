"""Normalisation kernels beyond the battery's sizes: long runs, many columns, teams."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.ops.core import params
from tests.ops.kernel_call import run_kernel

TOLERANCE = {"float32": 2e-5, "float64": 1e-12, "float16": 4e-3}


def draw(dtype, *shapes):
    rng = np.random.default_rng(5)
    return [rng.normal(3, 2, shape).astype(dtype) for shape in shapes]


def normalised(data, axes, eps):
    wide = data.astype(np.float64)
    inverse = 1 / np.sqrt(wide.var(axes, keepdims=True) + eps)
    return (wide - wide.mean(axes, keepdims=True)) * inverse, inverse


def gradients(grad, scaled, inverse, axes, gamma):
    """Gradients of ``gamma * scaled`` with respect to the data, gamma and beta, all broadcast."""
    inner = grad * gamma
    by_data = inner - inner.mean(axes, keepdims=True)
    return (by_data - scaled * (inner * scaled).mean(axes, keepdims=True)) * inverse


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("shape", ((3, 7, 1300), (300, 150, 1), (5, 3, 17), (1, 200, 4)))
def test_batch_norm(dtype, shape):
    outer, channels, inner = shape
    vector = np.float64 if dtype == "float64" else np.float32
    data, grad = draw(dtype, shape, shape)
    gamma, beta = (x.astype(vector) for x in draw("float64", channels, channels))
    packed = params.BATCH_NORM.pack(
        outer=outer,
        channels=channels,
        inner=inner,
        eps=1e-3,
        momentum=0.9,
        fix_gamma=0,
        batch_stats=1,
    )
    zeros, ones = np.zeros(channels, vector), np.ones(channels, vector)
    results = []
    for threads in (1, 2):
        outs = [np.empty_like(data), np.empty_like(zeros), np.empty_like(zeros)]
        run_kernel("batch_norm", [data, gamma, beta, zeros, ones], outs, packed, threads=threads)
        moving = [zeros.copy(), ones.copy()]
        backs = [np.empty_like(data), np.empty_like(zeros), np.empty_like(zeros)]
        ins = [grad, data, gamma, outs[1], outs[2], *moving]
        run_kernel("batch_norm_grad", ins, backs, packed, threads=threads)
        results.append([*outs, *backs, *moving])
    for one, two in zip(*results, strict=True):
        np.testing.assert_array_equal(one, two)
    out, mean, inverse, by_data, by_gamma, by_beta, moving_mean, moving_var = results[0]
    axes, limit = (0, 2), TOLERANCE[dtype]
    column = (1, channels, 1)
    scaled, expected_inverse = normalised(data, axes, 1e-3)
    gamma, beta = gamma.reshape(column), beta.reshape(column)
    np.testing.assert_allclose(out, scaled * gamma + beta, rtol=limit, atol=limit * 20)
    np.testing.assert_allclose(mean, data.astype(float).mean(axes), rtol=1e-5)
    np.testing.assert_allclose(inverse, expected_inverse.ravel(), rtol=1e-4)
    wide = grad.astype(float)
    expected = gradients(wide, scaled, expected_inverse, axes, gamma)
    np.testing.assert_allclose(by_data, expected, rtol=limit, atol=limit * 20)
    scale = outer * inner
    np.testing.assert_allclose(by_gamma, (wide * scaled).sum(axes), rtol=1e-4, atol=1e-5 * scale)
    np.testing.assert_allclose(by_beta, wide.sum(axes), rtol=1e-4, atol=1e-5 * scale)
    np.testing.assert_allclose(moving_mean, 0.1 * mean, rtol=1e-5)
    np.testing.assert_allclose(moving_var, 0.9 + 0.1 * data.astype(float).var(axes), rtol=1e-4)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(
    "shape, rows, block, count",
    (
        ((70, 1000), 70, 1, 1000),
        ((4, 6, 100), 24, 100, 6),
        ((4, 6, 1), 8, 1, 6),
        ((4, 6, 9), 8, 9, 6),
    ),
    ids=("layer", "instance", "group of single elements", "group"),
)
def test_row_norm(dtype, shape, rows, block, count):
    data, grad, gamma, beta = draw(dtype, shape, shape, count, count)
    length = data.size // rows
    packed = params.ROW_NORM.pack(rows=rows, length=length, block=block, count=count, eps=1e-3)
    results = []
    for threads in (1, 2):
        outs = [np.empty_like(data), np.empty(rows, dtype), np.empty(rows, dtype)]
        run_kernel("row_norm", [data, gamma, beta], outs, packed, threads=threads)
        backs = [np.empty_like(data), np.empty_like(gamma), np.empty_like(gamma)]
        ins = [grad, data, gamma, outs[1], outs[2]]
        run_kernel("row_norm_grad", ins, backs, packed, threads=threads)
        results.append([*outs, *backs])
    for one, two in zip(*results, strict=True):
        np.testing.assert_array_equal(one, two)
    out, mean, std, by_data, by_gamma, by_beta = results[0]
    number = np.arange(data.size) // block % count
    spread = gamma.astype(float)[number].reshape(rows, length)
    shift = beta.astype(float)[number].reshape(rows, length)
    scaled, inverse = normalised(data.reshape(rows, length), 1, 1e-3)
    limit = TOLERANCE[dtype]
    np.testing.assert_allclose(
        out.reshape(rows, length), scaled * spread + shift, rtol=limit, atol=limit * 20
    )
    np.testing.assert_allclose(std, 1 / inverse.ravel(), rtol=max(limit, 1e-4))
    wide = grad.astype(float).reshape(rows, length)
    expected = gradients(wide, scaled, inverse, 1, spread)
    np.testing.assert_allclose(by_data.reshape(rows, length), expected, rtol=limit, atol=limit * 40)
    sums = np.zeros((2, count))
    np.add.at(sums[0], number, (wide * scaled).ravel())
    np.add.at(sums[1], number, wide.ravel())
    atol = limit * 10 * data.size / count
    np.testing.assert_allclose(by_gamma, sums[0], rtol=limit * 4, atol=atol)
    np.testing.assert_allclose(by_beta, sums[1], rtol=limit * 4, atol=atol)


@pytest.mark.parametrize("backward", [True, False])
@pytest.mark.parametrize("forward", [True, False])
def test_backward_has_a_separate_mode(forward, backward):
    """In training mode it uses the saved batch statistics, otherwise the running ones."""
    data, grad = draw("float64", (4, 3, 2), (4, 3, 2))
    gamma = np.array([1.0, 2.0, 3.0])
    x, g, b, mean, var = (
        mx.nd.array(v, dtype="float64")
        for v in (data, gamma, [0, 1, 2], [3.1, 2.9, 3.3], [3.5, 4.5, 4.2])
    )
    for array in (x, g, b):
        array.attach_grad()
    with mx.autograd.record(train_mode=forward):
        y = mx.nd.BatchNorm(x, g, b, mean, var, fix_gamma=False, eps=1e-3)
    running = mean.asnumpy()[:, None], 1 / np.sqrt(var.asnumpy() + 1e-3)[:, None]
    y.backward(mx.nd.array(grad, dtype="float64"), train_mode=backward)
    scaled, inverse = normalised(data, (0, 2), 1e-3)
    if not (forward and backward):
        scaled, inverse = (data - running[0]) * running[1], running[1]
    expected = grad * gamma[:, None] * inverse
    if backward:
        expected = gradients(grad, scaled, inverse, (0, 2), gamma[:, None])
    np.testing.assert_allclose(x.grad.asnumpy(), expected, rtol=1e-9)
    np.testing.assert_allclose(g.grad.asnumpy(), (grad * scaled).sum((0, 2)), rtol=1e-9)
    moved = mean.asnumpy() != running[0][:, 0]
    assert moved.all() if forward and backward else not moved.any()


def test_gamma_of_sparse_inputs_cannot_be_fixed():
    data, ones, zeros = mx.nd.ones((2, 3)), mx.nd.ones(3), mx.nd.zeros(3)
    sparse = data.tostype("row_sparse")
    with pytest.raises(mx.MXNetError, match="fix_gamma"):
        mx.nd.BatchNorm(sparse, ones, zeros, zeros, ones)
    actual = mx.nd.BatchNorm(sparse, ones, zeros, zeros, ones, fix_gamma=False)
    np.testing.assert_allclose(actual.asnumpy(), 1 / np.sqrt(1.001), rtol=1e-5)
