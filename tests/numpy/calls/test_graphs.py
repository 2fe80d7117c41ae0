"""Graphs recorded from functions of `mx.np`: MXNet 2's operators, and types."""

import json

import numpy as onp
import pytest

import mxcy as mx
from mxcy import _deferred_compute as deferred
from mxcy import gluon, np

VALUES = onp.arange(12, dtype="float32").reshape(3, 4) / 4 - 1


def noted(function, *arrays):
    """The operators of a function's graph, and its result."""
    arrays = [np.array(a, dtype=a.dtype) for a in arrays]
    with deferred.context():
        deferred.set_variable(arrays, [mx.sym.var(f"x{i}") for i in range(len(arrays))])
        actual = function(*arrays)
        entries, constants = deferred.noted([actual])
    assert not constants
    symbol = mx.sym.Symbol(entries).as_np_ndarray()
    nodes = json.loads(symbol.tojson())["nodes"]
    for policy in (False, True):
        with mx.util.np_default_dtype(policy):
            (again,) = symbol.eval(**{f"x{i}": a.detach() for i, a in enumerate(arrays)})
        assert again.dtype == actual.dtype
        onp.testing.assert_allclose(again.asnumpy(), actual.asnumpy(), 1e-6)
    return [node["op"] for node in nodes if node["op"] != "null"], actual


@pytest.mark.parametrize(
    ("function", "operators"),
    [
        (lambda x: x.astype("float64"), ["Cast"]),
        (lambda x: x.copy(), ["_npi_copy"]),
        (lambda x: np.copy(x), ["_npi_copy"]),
        (lambda x: np.array(x, dtype="int32"), ["Cast"]),
        (lambda x: x.flatten(), ["_npx_reshape"]),
        (lambda x: x.reshape(-1, 2), ["_npx_reshape"]),
        (lambda x: x[1], ["slice", "_npx_reshape"]),
        (lambda x: x[1:], ["slice"]),
        (lambda x: x[:, ::-2], ["slice", "_npx_reshape"]),
        (lambda x: x[..., None, 1], ["slice", "_npx_reshape"]),
        (lambda x: x[None], ["_npx_reshape"]),
        (lambda x: x[1, 2], ["slice", "_npx_reshape"] * 2),
        (lambda x: x + np.full((4,), 2), ["_npi_full", "_npi_add"]),
        (lambda x: x * np.full_like(x, 2), ["_npi_full_like", "_npi_multiply"]),
        (lambda x: x + np.arange(4), ["_npi_arange", "_npi_add"]),
        (lambda x: x + np.linspace(0, 1, 4), ["_npi_linspace", "_npi_add"]),
        (lambda x: x.mean(axis=1), ["_npi_mean"]),
    ],
)
def test_operators_are_mxnets(function, operators):
    actual, result = noted(function, VALUES)
    assert actual == operators
    onp.testing.assert_array_equal(result.asnumpy(), function(np.array(VALUES)).asnumpy())


def test_indices_that_are_arrays_are_inputs_of_graphs():
    places = onp.array([0, -1, 1], "int64")
    assert noted(lambda x, i: x[i], VALUES, places)[0][-1] == "take"
    assert noted(lambda x, i: x[:, i], VALUES, places)[0][-1] == "take"
    names, actual = noted(lambda x, i, j: x[i, j], VALUES, places, places[::-1].copy())
    assert names == ["stack", "gather_nd"]
    onp.testing.assert_array_equal(actual.asnumpy(), VALUES[places, places[::-1]])


@pytest.mark.parametrize("kind", ["int8", "int32", "float32"])
@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: np.exp(x),
        lambda x, y: x / 2,
        lambda x, y: x + 2.5,
        lambda x, y: x + y,
        lambda x, y: np.where(x > 0, x, y),
        lambda x, y: x.sum(axis=0),
        lambda x, y: np.cumsum(x),
        lambda x, y: x.mean(),
        lambda x, y: np.std(x),
        lambda x, y: np.arctan2(x, y),
        lambda x, y: np.ones(4) * x,
        lambda x, y: np.concatenate([x, y]),
        lambda x, y: np.median(x),
    ],
)
def test_graphs_of_one_policy_compute_the_same_in_the_other(function, kind):
    x = onp.array([[3, 1, 2, 5], [4, 2, 7, 1]], kind)
    y = onp.array([[1, 4, 2, 0.5], [3, 2, 6, 1]], "float32")
    for policy in (False, True):
        with mx.util.np_default_dtype(policy):
            noted(function, x, y)


class Sliced(gluon.HybridBlock):
    """Reads by keys, copies and casts."""

    def forward(self, x):
        y = x[:, 1:].astype("float64").copy()
        return (y * np.full((1,), 2.0)).sum(axis=0)[-1] + x.flatten()[0]


@mx.util.use_np
def test_blocks_that_index_and_cast_become_graphs(tmp_path):
    block, x = Sliced(), np.array(VALUES)
    expected = block(x)
    block.hybridize()
    assert block(x) == expected
    block.export(str(tmp_path / "block"))  # which only graphs can
    again = gluon.SymbolBlock.imports(str(tmp_path / "block-symbol.json"), ["data"])
    assert again(x) == expected


class Branching(gluon.HybridBlock):
    """Reads a value."""

    def forward(self, x):
        return x + 1 if float(x.sum()) > 0 else x - 1


def test_blocks_that_look_at_values_say_so_once(monkeypatch, capfd):
    monkeypatch.setenv("MXCY_VERBOSE", "passes")
    block = Branching()
    block.hybridize()
    with mx.util.np_shape(True), mx.util.np_array(True):
        for shape in ((2,), (3,), (2, 2)):
            assert block(np.ones(shape)).shape == shape
            assert float(block(-np.ones(shape)).sum()) < 0
    assert capfd.readouterr().err.count("runs eagerly, not as a graph") == 1
