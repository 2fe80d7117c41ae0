"""Gluon 1.9 and Gluon 2: names, files and defaults under both profiles."""

import inspect
import json
from pathlib import Path

import numpy as np
import pytest

import mxcy as mx
from mxcy import gluon, profile
from mxcy.gluon import nn, rnn

DATA = Path(__file__).parents[1] / "data" / "gluon2"


@pytest.fixture(params=["1.9", "2.0"])
def generation(request):
    """The name of a profile, which is active during the test."""
    before = profile.current()
    mx.util.set_profile(request.param)
    yield request.param
    mx.util.set_profile(before.name)
    profile.set_current(*before)


@pytest.fixture
def second(generation):
    """Whether the profile is that of MXNet 2."""
    return generation == "2.0"


def small():
    net = nn.HybridSequential()
    net.add(nn.Dense(3), nn.Dense(2, in_units=3, use_bias=False))
    return net


# --- names ---------------------------------------------------------------------------------------


def test_collect_params_is_a_dict_of_both_names(second):
    net = small()
    actual = net.collect_params()
    full = [f"{net[0].prefix}weight", f"{net[0].prefix}bias", f"{net[1].prefix}weight"]
    structural = ["0.weight", "0.bias", "1.weight"]
    assert isinstance(actual, dict) and isinstance(actual, gluon.ParameterDict)
    assert list(actual) == (structural if second else full)
    assert [p.name for p in actual.values()] == (["weight", "bias", "weight"] if second else full)
    for one, other in zip(full, structural, strict=True):
        assert actual[one] is actual[other] and one in actual and other in actual
    assert "2.weight" not in actual
    with pytest.raises(KeyError, match="2"):
        actual["2.weight"]
    assert actual.get("1.weight", None) is net[1].weight and actual.get("nothing", 3) == 3


@pytest.mark.parametrize("pattern", [r"0\.", ".*0_", ".*bias"])
def test_select_takes_either_kind_of_name(second, pattern):
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(nn.Dense(3), nn.Dense(2, in_units=3, use_bias=False))
    actual = net.collect_params(pattern)
    expected = [net[0].weight, net[0].bias] if "0" in pattern else [net[0].bias]
    assert list(actual.values()) == expected
    assert ("0.bias" in list(actual)) == second


def test_shared_parameters_have_two_keys_and_are_initialized_once(second, recwarn):
    first = nn.Dense(2, in_units=2)
    net = nn.HybridSequential()
    net.add(first, nn.Dense(2, in_units=2).share_parameters(first.collect_params()))
    net.initialize()
    assert not recwarn.list
    assert net[1].weight is first.weight
    keys = ["0.weight", "0.bias", "1.weight", "1.bias"]
    assert list(net.collect_params()) == (keys if second else list(first.collect_params()))
    assert len(gluon.Trainer(net.collect_params(), "sgd")._params) == 2


def test_numpy_arrays_decide_for_trees_without_prefixes():
    class Old(nn.HybridSequential):
        def hybrid_forward(self, F, x):
            return x

    with mx.util.np_shape(), mx.util.np_array():
        assert "0.weight" in list(small().collect_params())
        scoped = nn.HybridSequential()
        with scoped.name_scope():
            scoped.add(nn.Dense(2))
        for net in (nn.HybridSequential(prefix="a_"), Old(), nn.HybridSequential(params=None)):
            net.add(nn.Dense(2))
            keys = list(net.collect_params())
            assert ("0.weight" in keys) == (type(net) is nn.HybridSequential and not net._is_named)
        assert "0.weight" not in list(scoped.collect_params())
    assert "0.weight" not in list(small().collect_params())


def test_user_created_parameter_dict(second):
    own = gluon.ParameterDict("net_")
    made = own.get("w", shape=(2,))
    assert own.get("w") is made and list(own) == ["net_w"]
    assert made.name == ("w" if second else "net_w")
    assert own.get("v", None) is None and own.get("net_w", None) is made


# --- children ------------------------------------------------------------------------------------


def test_children_return_themselves(second):
    class Net(gluon.Block):
        def __init__(self):
            super().__init__()
            self.body, self.lstm, self.cells = nn.Dense(2), rnn.LSTM(2), rnn.SequentialRNNCell()
            self.constant = Constant()

    class Constant(gluon.Block):
        def forward(self):
            return 5

    net = Net()
    assert net._children["constant"]() == 5
    for name in ("body", "lstm", "cells"):
        child = net._children[name]
        assert child is getattr(net, name)
        if second:
            assert child() is child
        else:
            with pytest.raises((TypeError, AttributeError)):
                child()


# --- files ---------------------------------------------------------------------------------------


def layers():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(2, 3), nn.BatchNorm(), nn.Dense(3, activation="relu"), nn.Dense(2))
    return net


def recurrent():
    net = nn.HybridSequential()
    net.add(rnn.LSTM(2, 2, bidirectional=True), nn.Dense(2))
    return net


@pytest.mark.parametrize("release", ["19", "20"])
@pytest.mark.parametrize("make", [layers, recurrent])
@pytest.mark.parametrize("hybrid", [False, True])
def test_files_of_both_releases_load(generation, release, make, hybrid, tmp_path):
    stored = np.load(DATA / f"{make.__name__}_{release}.npz")
    data = mx.nd.array(stored["data"])
    net = make()
    net.load_parameters(str(DATA / f"{make.__name__}_{release}.params"))
    net.hybridize(hybrid)
    np.testing.assert_allclose(net(data).asnumpy(), stored["out"], rtol=1e-5, atol=1e-6)
    net.save_parameters(str(tmp_path / "again.params"))
    head = (tmp_path / "again.params").read_bytes()[:4]
    assert (head == b"PK\x03\x04") == (generation == "2.0")
    other = make()
    mx.util.set_profile("1.9")
    other.load_parameters(str(tmp_path / "again.params"))
    np.testing.assert_allclose(other(data).asnumpy(), stored["out"], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("release", ["19", "20"])
def test_exports_of_both_releases_load(generation, release):
    stored = np.load(DATA / f"layers_{release}.npz")
    graph, values = (
        str(DATA / f"layers_{release}{end}") for end in ("-symbol.json", "-0000.params")
    )
    net = gluon.SymbolBlock.imports(graph, ["data"], values)
    actual = net(mx.nd.array(stored["data"])).asnumpy()
    np.testing.assert_allclose(actual, stored["out"], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("make", [layers, recurrent])
def test_export(second, make, tmp_path):
    data = mx.nd.array(np.load(DATA / f"{make.__name__}_20.npz")["data"])
    net = make()
    net.initialize()
    net.hybridize()
    expected = net(data).asnumpy()
    graph, values = net.export(str(tmp_path / "net"))
    nodes = json.loads(Path(graph).read_text())["nodes"]
    variables = {node["name"]: node.get("attrs") for node in nodes if node["op"] == "null"}
    parameters = net.collect_params()
    assert variables.keys() - {"data"} == parameters.keys()
    assert {name[4:] for name in mx.nd.load(values)} == parameters.keys()
    if second:
        for name, parameter in parameters.items():
            assert variables[name]["__shape__"] == str(parameter.shape)
    for other in ("1.9", "2.0"):
        mx.util.set_profile(other)
        loaded = gluon.SymbolBlock.imports(graph, ["data"], values)
        np.testing.assert_allclose(loaded(data).asnumpy(), expected, rtol=1e-5, atol=1e-6)
        assert ("0.weight" in loaded.collect_params()) == (second and make is layers)


def test_exports_of_symbols_declare_what_the_symbol_declares(second):
    declared = mx.sym.var("weight", shape=(3, -1), dtype="float32")
    hidden = mx.sym.FullyConnected(mx.sym.var("data"), declared, mx.sym.var("bias"), num_hidden=3)
    net = gluon.SymbolBlock(hidden, mx.sym.var("data"))
    net.initialize()
    net(mx.nd.ones((2, 4)))
    attributes = net.export(None)[0].attr_dict()
    assert "bias" not in attributes
    assert attributes["weight"]["__shape__"] == ("(3, 4)" if second else "(3, -1)")


def test_models_are_saved_whole(generation, tmp_path):
    data = mx.nd.array(np.load(DATA / "recurrent_20.npz")["data"])
    net, other = recurrent(), recurrent()
    net.initialize()
    net.hybridize()
    expected = net(data).asnumpy()
    net.save(str(tmp_path / "net"))
    other.load(str(tmp_path / "net"))
    np.testing.assert_array_equal(other(data).asnumpy(), expected)


# --- recurrent layers ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [rnn.RNN, rnn.GRU, rnn.LSTM])
def test_recurrent_layers_have_one_array(second, kind):
    layer = kind(3, 2, bidirectional=True)
    layer.initialize(mx.init.One())
    assert repr(layer) == f"{kind.__name__}(None -> 3, TNC, num_layers=2, bidirectional)"
    out = layer(mx.nd.ones((2, 1, 4)))
    assert out.shape == (2, 1, 6)
    assert repr(layer).startswith(f"{kind.__name__}(4 -> 3,")
    keys = list(layer.collect_params())
    assert (keys == ["rnn_param"]) if second else len(keys) == 16
    if second:
        values = layer.rnn_param.data().asnumpy()
        gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[kind.__name__]
        biases = 2 * 2 * 2 * 3 * gates  # of 2 layers, 2 directions, of inputs and states
        assert (values[:-biases] == 1).all() and (values[-biases:] == 0).all()


# --- optimizers ----------------------------------------------------------------------------------

#: optimizer -> learning rate, and another default, in MXNet 1.9.1 and in MXNet 2.0
DEFAULTS = {
    "sgd": ((0.01, 0.1), "lazy_update", (True, False)),
    "nag": ((0.01, 0.1), "momentum", (0.0, 0.9)),
    "adam": ((0.001, 0.001), "lazy_update", (True, False)),
    "adagrad": ((0.01, 0.01), "float_stable_eps", (1e-7, 1e-6)),
    "adadelta": ((0.01, 1.0), "epsilon", (1e-5, 1e-6)),
    "adamax": ((0.002, 0.002), "epsilon", (0.0, 1e-8)),
    "rmsprop": ((0.001, 0.001), "gamma1", (0.9, 0.9)),
    "ftrl": ((0.1, 0.1), "lamda1", (0.01, 0.01)),
    "lars": ((0.01, 0.1), "eps", (0, 1e-8)),
    "dcasgd": ((0.01, 0.1), "momentum", (0.0, 0.0)),
    "sgld": ((0.01, 0.1), "wd", (0.0, 0.0)),
    "ftml": ((0.01, 0.0025), "epsilon", (1e-8, 1e-8)),
    "groupadagrad": ((0.01, 0.01), "float_stable_eps", (1e-5, 1e-6)),
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults_of_optimizers(second, name):
    rates, attribute, values = DEFAULTS[name]
    optimizer = mx.optimizer.create(name)
    assert optimizer.learning_rate == rates[second]
    assert getattr(optimizer, attribute) == values[second]
    assert mx.optimizer.create(name, learning_rate=0.5).learning_rate == 0.5


def test_names_and_positions_of_arguments(second):
    rule = mx.optimizer.RMSProp(rho=0.5, momentum=0.25)
    assert (rule.gamma1, rule.gamma2) == (0.5, 0.25)
    assert mx.optimizer.RMSProp(gamma1=0.5).gamma1 == 0.5
    assert mx.optimizer.AdaGrad(eps=0.5).float_stable_eps == 0.5
    first = mx.optimizer.SGD(0.5)
    assert (first.lr, first.momentum) == ((0.5, 0.0) if second else (0.01, 0.5))
    assert list(inspect.signature(mx.optimizer.SGD).parameters)[0] == "momentum"
    with pytest.raises(TypeError):
        mx.optimizer.SGLD(0.1, 2, 3)


class Stepping(mx.optimizer.SGD):
    """Counts its calls, and halves what SGD does."""

    calls = ()

    def step(self, indices, weights, grads, states):
        self.calls += (("step", len(indices)),)
        super().step(indices, weights, [grad * 0.5 for grad in grads], states)

    def fused_step(self, indices, weights, grads, states):
        self.calls += (("fused", len(indices)),)
        super().step(indices, weights, [grad * 0.5 for grad in grads], states)


class Plain(mx.optimizer.Optimizer):
    """Has both step methods, as in MXNet 2."""

    def step(self, indices, weights, grads, states):
        for weight in weights:
            weight[:] = 1

    def fused_step(self, indices, weights, grads, states):
        for weight in weights:
            weight[:] = 2


@pytest.mark.parametrize(("fused", "value"), [(None, 1), (False, 1), (True, 2)])
def test_use_fused_step_chooses(generation, fused, value):
    weight = mx.nd.zeros((2,))
    mx.optimizer.get_updater(Plain(use_fused_step=fused))(0, weight, weight)
    assert weight.asnumpy().tolist() == [value] * 2


@pytest.mark.parametrize(
    ("options", "calls"),
    [
        ({"use_fused_step": False}, [("step", 1)] * 3),
        ({}, [("fused", 1)] * 3),
        ({"aggregate_num": 2}, [("fused", 2), ("fused", 1)]),
        ({"aggregate_num": np.inf, "use_fused_step": False}, [("step", 3)]),
    ],
)
def test_steps_of_users_optimizers(generation, options, calls):
    options = {"aggregate_num": 0, **options}
    rule = Stepping(learning_rate=1.0, lazy_update=False, **options)
    updater = mx.optimizer.get_updater(rule)
    weights = [mx.nd.ones((2,)) * i for i in range(3)]
    updater([0, 1, 2], [mx.nd.ones((2,))] * 3, weights)
    assert list(rule.calls) == calls
    assert [w.asnumpy().tolist() for w in weights] == [[i - 0.5] * 2 for i in range(3)]


def test_a_step_with_float32_copies(generation):
    rule = Stepping(learning_rate=1.0, lazy_update=False, multi_precision=True, momentum=0.5)
    updater = mx.optimizer.get_updater(rule)
    weight = mx.nd.ones((2,), dtype="float16")
    for _ in range(2):
        updater(0, mx.nd.ones((2,), dtype="float16"), weight)
    assert weight.dtype == np.float16 and weight.asnumpy().tolist() == [-0.25, -0.25]


# --- arrays --------------------------------------------------------------------------------------


def test_blocks_have_arrays_of_np_in_every_mode(second, tmp_path):
    mx.util.reset_np()
    net = small()
    net.initialize()
    net(mx.nd.ones((1, 4)))
    net.save_parameters(str(tmp_path / "net.params"))
    loaded = small()
    loaded.load_parameters(str(tmp_path / "net.params"))
    for each in (net, loaded):
        for parameter in each.collect_params().values():
            assert parameter.data()._is_numpy == parameter.grad()._is_numpy == second
    bare = gluon.Parameter("bare", shape=(2,))
    bare.initialize()
    assert not bare.data()._is_numpy
    assert repr(net.collect_params()).startswith("{'0.weight'") == second


def test_functions_of_lambdas(second):
    if second:
        net = nn.HybridLambda(lambda x, *rest: mx.npx.relu(x))
        x = mx.np.array([-1.0, 2.0])
    else:
        net = nn.HybridLambda(lambda F, x: F.relu(x))
        x = mx.nd.array([-1.0, 2.0])
    for _ in range(2):
        assert net(x).asnumpy().tolist() == [0, 2]
        net.hybridize()


@pytest.mark.parametrize("block", [nn.Lambda, nn.HybridLambda])
def test_names_in_lambdas_are_of_np_first_in_mxnet_2(second, block):
    x = mx.np.array([[1.0, 4.0]]) if second else mx.nd.array([[1, 4]])
    net = block("argmax")
    for _ in range(2):
        assert net(x).shape == (() if second else (1,))
        net.hybridize()
    assert block("softmax")(x).shape == (1, 2)
    with pytest.raises(AssertionError, match="bogus is not found in"):
        block("bogus")


def test_graphs_have_one_structure_of_inputs_in_mxnet_2(second):
    class Sum(gluon.HybridBlock):
        def forward(self, a, b=None):
            return b if a is None else a if b is None else a + b

    block, ones = Sum(), mx.np.ones(2)
    block.hybridize()
    with mx.util.np_shape(True), mx.util.np_array(True):
        assert block(None, ones).tolist() == block(None, ones * 1).tolist() == [1, 1]
        if second:
            with pytest.raises(ValueError, match="structured differently"):
                block(ones, ones)
        else:
            assert block(ones, ones).tolist() == [2, 2]
        block = Sum()
        block.hybridize()
        assert block(ones).tolist() == block(ones, None).tolist() == [1, 1]


def test_inputs_of_hybridized_blocks(second):
    class Sum(gluon.HybridBlock):
        def forward(self, a, b):
            return a + (sum(b) if isinstance(b, list) else b)

    with mx.util.np_shape(True), mx.util.np_array(True):
        ones = mx.np.ones(2)
        elsewhere = ones.copyto(mx.cpu(1))
        for other in (1, mx.sym.var("b"), elsewhere):
            block = Sum()
            block.hybridize()
            if second:
                with pytest.raises(ValueError, match="inputs of a"):
                    block(ones, other)
            elif other is not elsewhere and not isinstance(other, mx.sym.Symbol):
                assert block(ones, other).tolist() == [2, 2]
        block = Sum()
        assert block(ones, 1).tolist() == block(ones, [ones * 0.5] * 2).tolist() == [2, 2]


def test_layers_refuse_each_others_arguments(generation, tmp_path):
    layer, other = nn.Dense(1, in_units=1), nn.Dense(1, in_units=1, use_bias=False)
    layer.initialize()
    layer.save_parameters(str(tmp_path / "layer"))
    with pytest.raises(ValueError, match="Parameter 'bias' loaded from .* is not present"):
        other.load_parameters(str(tmp_path / "layer"))
    other.load_parameters(str(tmp_path / "layer"), ignore_extra=True)
    assert other.weight.data().asnumpy() == layer.weight.data().asnumpy()
    with pytest.raises(ValueError, match="expects a dictionary by structural names, .* got list"):
        other.share_parameters([layer.weight])
    assert other.share_parameters(None) is other


def test_divergences_are_sums_or_means(second):
    """MXNet 1.9.1 adds the terms of a row; 2.0.0b1 averages them."""
    predicted, true = np.full((2, 4), 0.25), np.tile([0.1, 0.2, 0.3, 0.4], (2, 1))
    terms = true * np.log(true / predicted)
    actual = gluon.loss.KLDivLoss()(mx.nd.array(np.log(predicted)), mx.nd.array(true)).asnumpy()
    np.testing.assert_allclose(actual, (terms.mean if second else terms.sum)(axis=1), rtol=1e-5)
    rows = mx.nd.array(np.arange(6).reshape(3, 2))
    expected = np.array([6.6392326, 2.0857625, 4.6624665]) / (3 if second else 1)
    np.testing.assert_allclose(gluon.loss.SDMLLoss()(rows, rows * 1.1).asnumpy(), expected, 1e-5)
