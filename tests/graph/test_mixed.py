"""In mixed precision, layer normalisation and attention read and write bfloat16 without casts."""

import numpy as np
import pytest

import mxcy as mx
from tests.ops.kernel_call import has_kernel

S = mx.sym
HEADS = 2
NARROW, WIDE = "bfloat16", "float32"
#: steps and units of a head: of one block of keys, odd ones, several blocks, and whole tiles of AMX
SIZES = ((5, 16), (40, 16), (301, 16), (530, 16), (128, 64), (150, 32), (544, 96))


def drawn(*shape, dtype=NARROW):
    return mx.nd.array(np.random.RandomState(0).uniform(-1, 1, shape), dtype=dtype)


def run(symbol, **arrays):
    """(output as float32, the plan's operators)."""
    executor = symbol.bind(mx.cpu(), arrays, grad_req="null")
    out = executor.forward()[0]
    lines = (line.partition(": ")[2].split() for line in executor.debug_str().splitlines())
    ops = [words[0] for words in lines if "by" in words]
    return out.astype(WIDE).asnumpy(), ops


def close(symbol, wide, arrays, op, **others):
    """Assert that a symbol uses an operator and computes what another one does in float32."""
    out, ops = run(symbol, **arrays, **others)
    assert op in ops
    assert not {"amp_cast", "Cast"} & set(ops)
    exact, _ = run(wide, **{name: a.astype(WIDE) for name, a in arrays.items()}, **others)
    np.testing.assert_allclose(out, exact, rtol=1e-2, atol=1e-2)


def between_casts(f, **kwargs):
    """f in float32 of a bfloat16 array, and the result in bfloat16."""
    return S.amp_cast(f(S.amp_cast(S.var("x"), dtype=WIDE), **kwargs), dtype=NARROW)


def norm(x, **kwargs):
    return S.LayerNorm(x, S.var("gamma"), S.var("beta"), **kwargs)


def attention(x, mask=None, length=None):
    scores = S.contrib.interleaved_matmul_selfatt_qk(x, heads=HEADS)
    if mask is not None:
        scores = S.broadcast_add(scores, mask)
    lengths = {} if length is None else {"length": length, "use_length": True}
    return S.contrib.interleaved_matmul_selfatt_valatt(
        x, S.softmax(scores, axis=-1, **lengths), heads=HEADS
    )


VECTORS = {name: drawn(24, dtype=WIDE) for name in ("gamma", "beta")}
on_pairs = pytest.mark.skipif(
    not has_kernel("attention_bf16", NARROW), reason="the CPU has no AVX512-BF16"
)


@pytest.mark.parametrize("rows", (1, 7))
def test_norms(rows):
    arrays = {"x": drawn(rows, 3, 24)}
    close(between_casts(norm), norm(S.var("x")), arrays, "_mixed_layer_norm", **VECTORS)


@on_pairs
@pytest.mark.parametrize(("steps", "depth"), SIZES)
def test_attention(steps, depth):
    arrays = {"x": drawn(steps, 2, 3 * HEADS * depth)}
    close(between_casts(attention), attention(S.var("x")), arrays, "_mixed_attention")


@on_pairs
@pytest.mark.parametrize(("steps", "depth"), SIZES)
def test_masks_and_lengths(steps, depth):
    arrays = {"x": drawn(steps, 2, 3 * HEADS * depth)}
    mask = mx.nd.array(np.where(np.arange(steps) % 3, 0, -1e9).reshape(1, 1, steps))
    wide = attention(S.var("x"), S.var("mask"))
    narrow = between_casts(attention, mask=S.var("mask"))
    close(narrow, wide, arrays, "_mixed_attention", mask=mask)
    lengths = np.arange(2 * HEADS * steps).reshape(2 * HEADS, steps) % (steps + 1)
    length = mx.nd.array(lengths, dtype="int32")
    wide = attention(S.var("x"), length=S.var("length"))
    narrow = between_casts(attention, length=S.var("length"))
    out, ops = run(narrow, **arrays, length=length)
    assert "_mixed_attention" in ops
    exact, _ = run(wide, x=arrays["x"].astype(WIDE), length=length)
    np.testing.assert_allclose(out, exact, rtol=1e-2, atol=1e-2)


def test_odd_keys_keep_their_casts():
    x = S.amp_cast(S.var("x"), dtype=WIDE)
    scores = S.contrib.interleaved_matmul_selfatt_qk(x, heads=3)
    out = S.contrib.interleaved_matmul_selfatt_valatt(x, S.softmax(scores), heads=3)
    _, ops = run(S.amp_cast(out, dtype=NARROW), x=drawn(6, 2, 3 * 3 * 5))
    assert "_attention" in ops and "_mixed_attention" not in ops


@pytest.mark.parametrize("reader", ("float32", "output"))
def test_other_readers_keep_the_casts(reader):
    wide = norm(S.amp_cast(S.var("x"), dtype=WIDE))
    narrow = S.amp_cast(wide, dtype=NARROW)
    symbol = S.Group([narrow, wide if reader == "output" else S.exp(wide)])
    out, ops = run(symbol, x=drawn(2, 3, 24), **VECTORS)
    assert "LayerNorm" in ops and "_mixed_layer_norm" not in ops


def test_data_in_float32_keep_their_casts():
    symbol = S.amp_cast(norm(S.var("x")), dtype=NARROW)
    _, ops = run(symbol, x=drawn(2, 3, 24, dtype=WIDE), **VECTORS)
    assert "LayerNorm" in ops
