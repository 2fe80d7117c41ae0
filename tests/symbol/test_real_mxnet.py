"""Symbols exchanged with MXNet: each loads the other's files and computes the same.

Runs where the environment names originals; see tests/originals.py.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import mxcy as mx
from mxcy.symbol.symbol import Symbol
from tests import originals
from tests.symbol.test_golden import CASES, symbol_of

originals.skip_without_any()
pytestmark = pytest.mark.needs_real_mxnet
SCRIPT = Path(__file__).parent / "real_mxnet.py"
real = originals.fixture_for(SCRIPT)
S = mx.sym


def names(symbol):
    return [symbol.list_arguments(), symbol.list_auxiliary_states(), symbol.list_outputs()]


def outputs(symbol, arrays):
    actual = symbol.eval(ctx=mx.cpu(), **{name: mx.nd.array(v) for name, v in arrays.items()})
    return [array.asnumpy() for array in actual]


def networks():
    """(name, symbol, shapes of the inputs)."""
    data = S.var("data")
    conv = S.Convolution(data, kernel=(3, 3), num_filter=4, name="conv")
    pool = S.Pooling(S.relu(conv), global_pool=True, pool_type="avg", kernel=(1, 1))
    yield "conv", S.SoftmaxActivation(S.flatten(pool) / 2), {"data": (2, 3, 6, 6)}
    dense = S.FullyConnected(data, num_hidden=5, name="fc1", attr={"__lr_mult__": "2"})
    dense = S.FullyConnected(S.tanh(dense), num_hidden=2, no_bias=True, name="fc2")
    yield "dense", S.Group([dense, S.BlockGrad(S.sum(dense, axis=1))]), {"data": (4, 3)}
    shared = S.var("w")
    twice = S.broadcast_sub(S.dot(S.dot(data, shared), shared) ** 2, S.norm(shared))
    yield "shared", S.broadcast_add(twice, S.arange(3)), {"data": (2, 3), "w": (3, 3)}
    weight = S.var("weight")

    def body(element, states):
        state = S.tanh(S.FullyConnected(element + states[0], weight, no_bias=True, num_hidden=4))
        return S.sum(state, axis=1), [state]

    outs, states = S.contrib.foreach(body, data, [S.var("state")])
    yield "foreach", S.Group([outs, *states]), {"data": (3, 2, 4), "state": (2, 4)}
    outs, ends = S.contrib.while_loop(
        lambda i, total: total < 20,
        lambda i, total: ([total], [i + 1, total + i * i + 1]),
        [S.var("i"), S.var("total")],
        max_iterations=6,
    )
    yield "while", S.Group(ends), {"i": (1,), "total": (1,)}
    result = S.contrib.cond(S.sum(data) > 0, lambda: data * 2, lambda: S.exp(data))
    yield "cond", result, {"data": (2, 3)}


def test_the_original_computes_with_ours(real):
    rng = np.random.default_rng(0)
    expected = {}
    for name, symbol, shapes in networks():
        actual, _, _ = symbol.infer_shape(**shapes)
        arrays = {
            n: rng.uniform(-1, 1, shape).astype("float32")
            for n, shape in zip(symbol.list_arguments(), actual, strict=True)
        }
        symbol.save(str(real.folder / f"{name}.json"))
        np.savez(real.folder / f"{name}.npz", **arrays)
        expected[name] = names(symbol), outputs(symbol, arrays)
    told = real("read")
    assert sorted(told) == sorted(expected)
    for name, (listed, arrays) in expected.items():
        assert told[name][0] == listed
        for ours, theirs in zip(arrays, told[name][1], strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6, err_msg=name)


def test_we_compute_with_the_original(real):
    for name, listed, expected in real("write"):
        symbol = S.load(str(real.folder / f"{name}.json"))
        assert names(symbol) == listed
        with np.load(real.folder / f"{name}.npz") as arrays:
            actual = outputs(symbol, arrays)
        for ours, theirs in zip(actual, expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6, err_msg=name)


def test_the_first_version_loads_every_operator(real):
    if real.version != "19":
        pytest.skip("the second version has not all of the first one's operators")
    symbols = [symbol_of(case) for case in CASES]
    texts = [json.dumps(json.loads(symbol.tojson())) for symbol in symbols]
    (real.folder / "symbols.txt").write_text("\n".join(texts))
    for symbol, told in zip(symbols, real("load"), strict=True):
        assert isinstance(symbol, Symbol)
        assert told[:2] == names(symbol)[:2]
