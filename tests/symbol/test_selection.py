"""Operators selected by name, in subgraphs: MXNet's C functions through ctypes, and backends."""

import ctypes
import json
import random

import numpy as np
import pytest

import mxcy as mx
from mxcy.base import _LIB, SymbolHandle, c_str, c_str_array, check_call, mx_uint

S = mx.sym


@pytest.fixture
def select():
    """A function that selects operators for a backend until the test ends."""
    used = set()

    def call(*names, backend="default", version="V2"):
        used.add(backend)
        function = getattr(_LIB, f"MXSetSubgraphPropertyOpNames{version}")
        check_call(function(c_str(backend), mx_uint(len(names)), c_str_array(names)))

    yield call
    for backend in used:
        check_call(_LIB.MXRemoveSubgraphPropertyOpNamesV2(c_str(backend)))


def built(symbol, *names, backend="default"):
    handle = SymbolHandle()
    check_call(
        _LIB.MXBuildSubgraphByOpNames(
            symbol.handle,
            c_str(backend),
            mx_uint(len(names)),
            c_str_array(names),
            ctypes.byref(handle),
        )
    )
    return S.Symbol(handle)


def operators(symbol):
    """Operator names, with lists for subgraphs."""

    def of(content):
        return [
            of(node["subgraphs"][0]) if "subgraphs" in node else node["op"]
            for node in content["nodes"]
            if node["op"] != "null"
        ]

    return of(json.loads(symbol.tojson()))


def waves():
    """Results of exp reach the sum inside and outside a region with sin and the sum."""
    middle = S.exp(S.var("data"), name="middle")
    return S.elemwise_add(S.cos(middle), S.sin(middle), name="sum")


def results(symbol, seed=3):
    """Outputs and gradients for the same random values of each variable."""
    executor = symbol.simple_bind(mx.cpu(), data=(2, 3, 4, 4))
    values = np.random.RandomState(seed)
    arrays = executor.arg_dict | executor.aux_dict
    for name in sorted(arrays):
        arrays[name][:] = values.uniform(0.5, 1.5, arrays[name].shape)
    executor.forward(is_train=True)
    executor.backward([mx.nd.ones(output.shape) for output in executor.outputs])
    after = {**executor.grad_dict, **executor.aux_dict}
    outputs = [output.asnumpy() for output in executor.outputs]
    return outputs + [after[name].asnumpy() for name in sorted(after)]


def assert_same(symbol, partitioned):
    assert partitioned.list_arguments() == symbol.list_arguments()
    assert partitioned.list_auxiliary_states() == symbol.list_auxiliary_states()
    for actual, expected in zip(results(partitioned), results(symbol), strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-6)


def test_connected_operators_become_one_node():
    symbol = waves()
    partitioned = built(symbol, "sin", "elemwise_add")
    assert operators(partitioned) == ["exp", "cos", ["sin", "elemwise_add"]]
    assert_same(symbol, partitioned)
    assert operators(symbol) == ["exp", "cos", "sin", "elemwise_add"]
    assert operators(built(symbol, "exp", "cos", "sin", "elemwise_add", backend="default_v2")) == [
        operators(symbol)
    ]
    assert operators(built(symbol)) == operators(built(symbol, "tanh")) == operators(symbol)


def test_no_path_leaves_a_node_and_returns():
    symbol = waves()
    partitioned = built(symbol, "exp", "sin", "elemwise_add")
    nested = [part for part in operators(partitioned) if isinstance(part, list)]
    assert len(nested) == 2 and sum(map(len, nested)) == 3
    assert_same(symbol, partitioned)


def test_auxiliary_states_remain_states():
    symbol = S.BatchNorm(S.BatchNorm(waves(), name="one"), name="two")
    partitioned = built(symbol, "elemwise_add", "BatchNorm")
    assert operators(partitioned)[-1] == ["elemwise_add", "BatchNorm", "BatchNorm"]
    assert len(partitioned.list_auxiliary_states()) == 4
    assert_same(symbol, partitioned)
    again = S.load_json(partitioned.tojson())
    assert again.list_auxiliary_states() == symbol.list_auxiliary_states()
    assert_same(symbol, again)


def test_files_of_mxnet():
    """MXNet writes no attributes of such a node; what is a state follows from the subgraph."""
    names = ["data", "bn_gamma", "bn_beta", "bn_moving_mean", "bn_moving_var"]
    norm = {"op": "BatchNorm", "name": "bn", "inputs": [[i, 0, 0] for i in range(5)]}
    inside = [{"op": "null", "name": f"{name}0", "inputs": []} for name in names] + [norm]
    heads = {"arg_nodes": list(range(5)), "heads": [[5, 0, 0]]}
    body = {"nodes": inside, "node_row_ptr": [0, 1, 2, 3, 4, 5, 8], **heads}
    inputs = [[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 1], [4, 0, 1]]
    node = {"op": "_CachedOp", "name": "_CachedOp0", "inputs": inputs, "subgraphs": [body]}
    nodes = [{"op": "null", "name": name, "inputs": []} for name in names] + [node]
    version = {"mxnet_version": ["int", 10901]}
    content = {"nodes": nodes, "node_row_ptr": list(range(7)), **heads, "attrs": version}
    symbol = S.load_json(json.dumps(content))
    assert symbol.list_arguments() == names[:3] and symbol.list_auxiliary_states() == names[3:]
    assert symbol.list_outputs() == ["_CachedOp0_bn_output"]
    written = json.loads(built(S.BatchNorm(S.var("data"), name="bn"), "BatchNorm").tojson())
    assert {**written["nodes"][-1], "subgraphs": [body]} == node
    assert_same(S.BatchNorm(S.var("data"), name="bn"), symbol)


def test_shapes_of_results_determine_those_of_inputs():
    weight = S.sin(S.var("weight", shape=(1, 0, 2, 2)))
    symbol = S.Convolution(S.var("data"), weight, kernel=(2, 2), num_filter=1, name="conv")
    partitioned = built(symbol, "sin")
    assert partitioned.infer_shape(data=(2, 3, 4, 4)) == symbol.infer_shape(data=(2, 3, 4, 4))
    assert_same(symbol, partitioned)


def test_several_outputs_and_equal_inputs():
    parts = S.split(S.var("data"), num_outputs=3, axis=1, name="parts")
    symbol = S.Group([parts[2], S.exp(parts[0]) + parts[0], parts[2]])
    partitioned = built(symbol, "SliceChannel", "exp")
    assert operators(partitioned) == [["SliceChannel", "exp"], "elemwise_add"]
    assert_same(symbol, partitioned)
    assert_same(data := S.var("data") * 1, built(data, "elemwise_mul"))
    twice = S.var("data") + S.var("data", shape=(2, 3, 4, 4))
    assert operators(built(twice, "elemwise_add")) == [["elemwise_add"]]


@pytest.mark.parametrize("seed", range(20))
def test_random_graphs(seed):
    chance = random.Random(seed)
    unary, binary = ["sin", "cos", "tanh"], ["elemwise_add", "elemwise_mul", "elemwise_sub"]
    values = [S.var("data")]
    for _ in range(30):
        recent = values[-6:]
        if chance.random() < 0.5:
            values.append(getattr(S, chance.choice(unary))(chance.choice(recent)))
        else:
            pair = chance.choice(recent), chance.choice(recent)
            values.append(getattr(S, chance.choice(binary))(*pair))
    symbol = S.Group(chance.sample(values[1:], 3))
    chosen = chance.sample(unary + binary, 3)
    partitioned = built(symbol, *chosen)
    outside = [part for part in operators(partitioned) if not isinstance(part, list)]
    assert not set(outside) & set(chosen)
    assert_same(symbol, partitioned)


def test_a_selection_lasts_until_it_is_removed(select):
    symbol = waves()
    with pytest.raises(mx.MXNetError, match="backend default has no selected operators"):
        symbol.optimize_for("default")
    select("exp", "cos")
    for _ in range(2):
        assert operators(symbol.optimize_for("default")) == [["exp", "cos"], "sin", "elemwise_add"]
    data = mx.nd.ones((2, 3, 4, 4))
    assert_same(symbol, symbol.optimize_for("default", {"data": data}, dedup_subgraph=True))
    select("sin", version="")
    assert operators(symbol.get_backend_symbol("default"))[2] == ["sin"]
    with pytest.raises(mx.MXNetError, match="default_v2 has no selected operators"):
        symbol.optimize_for("default_v2")
    check_call(_LIB.MXRemoveSubgraphPropertyOpNames(c_str("default")))
    check_call(_LIB.MXRemoveSubgraphPropertyOpNames(c_str("default")))
    with pytest.raises(mx.MXNetError, match="no selected operators"):
        symbol.optimize_for("default")


def test_executors_compute_the_partitioned_symbol(select, monkeypatch):
    symbol = S.BatchNorm(waves(), name="norm")
    expected = results(symbol)
    monkeypatch.setenv("MXNET_SUBGRAPH_BACKEND", "default")
    select("sin", "elemwise_add", "BatchNorm")
    for actual, value in zip(results(symbol), expected, strict=True):
        np.testing.assert_allclose(actual, value, rtol=1e-6, atol=1e-6)
    executor = symbol.simple_bind(mx.cpu(), data=(2, 3, 4, 4))
    assert list(executor.output_dict) == ["norm_output"]
    for bound in (executor, executor.reshape(allow_up_sizing=True, data=(4, 3, 4, 4))):
        assert operators(bound.get_optimized_symbol())[2] == ["sin", "elemwise_add", "BatchNorm"]


def test_sparse_executors_compute_the_partitioned_symbol(select, monkeypatch):
    symbol = S.sin(S.dot(S.var("data", stype="csr"), S.var("weight"))) + 1
    data = mx.nd.array([[0.0, 2.0], [1.0, 0.0]]).tostype("csr")
    arrays = {"data": data, "weight": mx.nd.array([[1.0], [2.0]])}
    monkeypatch.setenv("MXNET_SUBGRAPH_BACKEND", "default_v2")
    select("sin", "_plus_scalar", backend="default_v2")
    executor = symbol.bind(mx.cpu(), arrays)
    assert operators(executor.get_optimized_symbol()) == ["dot", ["sin", "_plus_scalar"]]
    expected = np.sin([[4.0], [1.0]]) + 1
    np.testing.assert_allclose(executor.forward()[0].asnumpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("imported", [False, True])
def test_blocks(select, tmp_path, imported):
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(4, activation="relu"), mx.gluon.nn.Dense(2))
    net.initialize()
    x = mx.nd.random.uniform(shape=(1, 3))
    expected = net(x).asnumpy()
    if imported:
        net.hybridize()
        net(x)
        files = net.export(str(tmp_path / "plain"))
        net = mx.gluon.SymbolBlock.imports(files[0], "data", files[1])
    select("FullyConnected")
    net.hybridize(backend="default")
    np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-6)
    symbol = mx.sym.load(net.export(str(tmp_path / "net"))[0])
    assert operators(symbol) == [["FullyConnected"], "Activation", ["FullyConnected"]]
    net.hybridize()
    net(x)
    assert operators(mx.sym.load(net.export(str(tmp_path / "net"))[0]))[0] == "FullyConnected"


def test_recorded_blocks(select):
    class Net(mx.gluon.HybridBlock):
        def forward(self, x):
            return mx.np.exp(mx.np.sin(x)) + 1

    net, x = Net(), mx.np.ones((2, 3))
    select("_npi_sin", "_npi_exp")
    with mx.util.np_array(True), mx.util.np_shape(True):
        expected = net(x).asnumpy()
        net.optimize_for(x, backend="default")
        np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-6)
        assert operators(net.export(None)[0])[0] == ["_npi_sin", "_npi_exp"]


def test_wrong_backends_and_handles():
    with pytest.raises(mx.MXNetError, match="cannot be selected for backend pigeon, only for def"):
        _LIB.MXSetSubgraphPropertyOpNamesV2(c_str("pigeon"), mx_uint(0), c_str_array([]))
    with pytest.raises(mx.MXNetError, match="pigeon"):
        built(waves(), "exp", backend="pigeon")
    for handle in (SymbolHandle(12345), SymbolHandle()):
        with pytest.raises(mx.MXNetError, match="does not point to a symbol"):
            S.Symbol(handle)
