"""Attention on gpu(0) against the CPU: separate products, and the fused operator."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.gpu.matrix import products
from tests.gpu.device.test_launches import launches
from tests.gpu.standin.seam import is_chosen

GPU = mx.gpu(0)


def compared(function, *arrays, tolerance=2e-5):
    """Compare results and all gradients with the CPU's."""
    results = []
    for ctx in (mx.cpu(), GPU):
        given = [mx.nd.array(values, ctx=ctx, dtype=values.dtype) for values in arrays]
        for array in given:
            array.attach_grad()
        with mx.autograd.record():
            out = function(*given)
        out.backward(mx.nd.array(np.cos(np.arange(out.size)).reshape(out.shape), ctx=ctx))
        assert out.context == ctx
        results.append([out.asnumpy(), *(array.grad.asnumpy() for array in given)])
    for wanted, result in zip(*results, strict=True):
        np.testing.assert_allclose(result, wanted, rtol=tolerance, atol=tolerance)


def drawn(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype("float32")


def self_attention(x, heads=3):
    scores = mx.nd.contrib.interleaved_matmul_selfatt_qk(x, heads=heads)
    weights = mx.nd.softmax(scores)
    return mx.nd.contrib.interleaved_matmul_selfatt_valatt(x, weights, heads=heads)


def cross_attention(queries, others, heads=2):
    scores = mx.nd.contrib.interleaved_matmul_encdec_qk(queries, others, heads=heads)
    weights = mx.nd.softmax(scores)
    return mx.nd.contrib.interleaved_matmul_encdec_valatt(others, weights, heads=heads)


@pytest.mark.parametrize("way", ["cuBLAS", "our own"])
def test_interleaved_heads(way, monkeypatch):
    steps = 9
    if way == "our own":
        monkeypatch.setattr(products, "strided_products", lambda request: None)
        steps = 10  # prepared calls are cached by shape
    compared(self_attention, drawn(steps, 2, 3 * 3 * 5))
    compared(cross_attention, drawn(steps, 2, 2 * 7), drawn(steps + 3, 2, 2 * 2 * 7))


class Heads(mx.gluon.HybridBlock):
    """Attention as networks write it, which a pass fuses into one operator."""

    def __init__(self, masked):
        super().__init__()
        self.masked = masked

    def hybrid_forward(self, F, query, key, value, mask):
        scores = F.batch_dot(query, key, transpose_b=True) * 0.3
        weights = F.softmax(F.broadcast_add(scores, mask) if self.masked else scores)
        return F.batch_dot(weights, value)


@pytest.mark.parametrize("masked", [False, True])
def test_one_operator(masked):
    """More queries, keys and columns than a tile has."""
    block = Heads(masked)
    block.hybridize()
    mask = np.where(np.arange(150) % 7 == 3, -1e9, 0).astype("float32").reshape(1, 1, 150)
    compared(block, drawn(3, 70, 20), drawn(3, 150, 20), drawn(3, 150, 68), mask, tolerance=1e-4)


@pytest.mark.skipif(not is_chosen(), reason="the stand-in counts launches")
def test_launches():
    """One launch forward, four backward, plus copies and sums of gradients."""
    block = Heads(masked=False)
    block.hybridize()
    arrays = [mx.nd.array(drawn(2, 40, 8), ctx=GPU) for _ in range(3)]
    mask = mx.nd.zeros((1,), ctx=GPU)
    for array in arrays:
        array.attach_grad()
    counts = []
    for _ in range(3):
        before = launches()
        with mx.autograd.record():
            out = block(*arrays, mask)
        out.wait_to_read()
        counts.append(launches() - before)
        out.backward()
        mx.nd.waitall()
    assert counts[-1] == 1
