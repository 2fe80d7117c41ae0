"""Float32 products with AMX, of operands in three bfloat16 parts: dense layers and `dot`."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.ops.fused.layer import ACTIVATIONS
from tests.ops.kernel_call import has_kernel, run_kernel
from tests.ops.matrix.fused_dense import check, compute, describe, packed

pytestmark = pytest.mark.skipif(not has_kernel("fc_tiles"), reason="needs AMX-BF16")

TILES = {"kernel": "fc_tiles"}
# rows, units, inputs: whole blocks, with rests on each side, of several blocks of k and of rows
SHAPES = ((128, 512, 512), (131, 500, 517), (17, 40, 1540), (700, 72, 600), (1, 64, 5000))


@pytest.mark.parametrize("threads", (1, 2))
@pytest.mark.parametrize("shape", SHAPES)
def test_against_numpy(shape, threads):
    check(shape, threads, **TILES)
    check(shape, threads, bias=False, other=True, **TILES)
    check(shape, threads, bias=False, act="relu", **TILES)


@pytest.mark.parametrize("act", ACTIVATIONS)
def test_activations(act):
    check((70, 150, 300), other=True, act=act, tolerance=4e-5, **TILES)


def test_sum_in_place():
    check((70, 256, 900), other=True, act="relu", inplace=True, **TILES)


@pytest.mark.parametrize("threads", (2, 3, 8, 32))
@pytest.mark.parametrize("shape", ((128, 768, 768), (301, 500, 1700)))
def test_same_bits_with_any_team(shape, threads):
    one, many = (compute(shape, team, act="gelu_erf", **TILES)[0] for team in (1, threads))
    np.testing.assert_array_equal(one, many)


@pytest.mark.parametrize("depth", (64, 512, 2048))
def test_errors_are_those_of_ordinary_products(depth):
    ordinary, exact = compute((256, 512, depth), bias=False)
    out, _ = compute((256, 512, depth), bias=False, **TILES)
    assert np.abs(out - exact).max() <= 2 * np.abs(ordinary - exact).max()
    assert np.square(out - exact).mean() <= 1.5 * np.square(ordinary - exact).mean()


def exceptional(rng, rows, columns):
    """Values of which some are infinite, NaN, near the largest, or tiny."""
    values = rng.standard_normal((rows, columns)).astype(np.float32)
    values[3, 7], values[40, 1], values[90, 3] = np.inf, np.nan, np.finfo(np.float32).max
    values[64:96] *= np.float32(1e-33)
    return values


def assert_as_in_float32(out, data, weight):
    """`weight` is finite."""
    with np.errstate(all="ignore"):
        expected = data @ weight
    np.testing.assert_array_equal(np.isnan(out), np.isnan(expected))
    np.testing.assert_array_equal(np.isinf(out), np.isinf(expected))
    finite = np.isfinite(expected)
    scale = np.max(np.abs(data), axis=1, keepdims=True, initial=0, where=np.isfinite(data))
    error = np.subtract(out, expected, where=finite, out=np.zeros_like(out))
    assert (np.abs(error) <= 1e-4 * scale).all()


def test_exceptional_values_in_dense_layers():
    rng = np.random.default_rng(7)
    data, weight = exceptional(rng, 128, 96), rng.standard_normal((160, 96)).astype(np.float32)
    out = np.empty((128, 160), np.float32)
    params = describe((128, 160, 96), bias=False)
    run_kernel("fc_tiles", [data, packed(weight, out, params, "fc_tiles")], [out], params)
    assert_as_in_float32(out, data, weight.T)


@pytest.mark.parametrize("transpose_b", (False, True))
@pytest.mark.parametrize("transpose_a", (False, True))
def test_dot(transpose_a, transpose_b):
    rng = np.random.default_rng(7)
    a, b = exceptional(rng, 200, 517), rng.standard_normal((517, 140)).astype(np.float32)
    left = mx.nd.array(a.T if transpose_a else a)
    right = mx.nd.array(b.T if transpose_b else b)
    out = mx.nd.dot(left, right, transpose_a=transpose_a, transpose_b=transpose_b)
    assert_as_in_float32(out.asnumpy(), a, b)


def test_dot_adds_to_what_is_there():
    rng = np.random.default_rng(7)
    a, b = (rng.standard_normal((300, 300)).astype(np.float32) for _ in range(2))
    weight = mx.nd.array(b)
    weight.attach_grad(grad_req="add")
    for _ in range(2):
        with mx.autograd.record():
            product = mx.nd.dot(mx.nd.array(a), weight)
        product.backward()
    expected = np.repeat(2 * a.sum(axis=0)[:, None], 300, axis=1)
    np.testing.assert_allclose(weight.grad.asnumpy(), expected, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("deterministic", (False, True))
def test_trials_offer_it_unless_determinism_is_asked_for(
    monkeypatch, capfd, tmp_path, deterministic
):
    monkeypatch.setenv("MXNET_HOME", str(tmp_path))
    monkeypatch.setenv("MXNET_ENFORCE_DETERMINISM", str(int(deterministic)))
    monkeypatch.setenv("MXNET_CUDNN_ALGO_VERBOSE_LEVEL", "2")
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(512, in_units=512, activation="relu"))
    net.add(mx.gluon.nn.Dense(512, in_units=512, activation="relu"))
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    net(mx.nd.ones((256, 512))).wait_to_read()
    assert ("fc_tiles" in capfd.readouterr().out) == (not deterministic)
