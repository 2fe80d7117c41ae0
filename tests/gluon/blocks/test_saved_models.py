"""Whole models in files, hooks of operators, inference of shapes and types."""

import json

import numpy as np
import pytest

import mxcy as mx
from mxcy.gluon import nn


class TwoOutputs(mx.gluon.HybridBlock):
    def __init__(self, units=3):
        super().__init__()
        with self.name_scope():
            self.dense = nn.Dense(units)
            self.norm = nn.BatchNorm()

    def hybrid_forward(self, F, x, y):
        x = self.dense(x)
        return self.norm(x), [x, y + 1]


def network(units=3):
    net = nn.Sequential()
    net.add(nn.Dense(4), nn.HybridSequential(), nn.Lambda(lambda x: x * 1))
    net[1].add(nn.Dense(units), nn.Dropout(0.5))
    return net


def test_model_comes_back(tmp_path):
    prefix, inputs = str(tmp_path / "net"), [mx.nd.ones((2, 5)), mx.nd.zeros((1,))]
    saved, loaded = TwoOutputs(), TwoOutputs()
    saved.initialize(mx.init.Normal(1))
    saved.hybridize()
    expected = saved(*inputs)
    saved.save(prefix)
    loaded.load(prefix)
    actual = loaded(*inputs)
    np.testing.assert_array_equal(actual[0].asnumpy(), expected[0].asnumpy())
    np.testing.assert_array_equal(actual[1][0].asnumpy(), expected[1][0].asnumpy())
    with mx.autograd.record():
        loaded(*inputs)[1][0].backward()
    assert loaded.dense.weight.grad().asnumpy().tolist() == [[2] * 5] * 3


def test_graphs_come_back(tmp_path):
    prefix = str(tmp_path / "net")
    saved, loaded = network(), network()
    saved.initialize()
    saved[1].hybridize()
    expected = saved(mx.nd.ones((2, 5))).asnumpy()
    saved.save(prefix)
    content = json.loads((tmp_path / "net-model.json").read_text())
    assert "graphs" not in content["children"]["0"]
    assert len(content["children"]["1"]["graphs"]) == 1
    loaded.load(prefix)
    loaded[1].export(str(tmp_path / "exported"))  # there is a graph, without any call
    np.testing.assert_array_equal(loaded(mx.nd.ones((2, 5))).asnumpy(), expected)


def test_other_models_are_refused(tmp_path):
    prefix = str(tmp_path / "net")
    saved = network()
    saved.initialize()
    saved(mx.nd.ones((2, 5)))
    saved.save(prefix)
    other = network()
    other[1].add(nn.Flatten())
    with pytest.raises(mx.MXNetError, match=r"another model: Sequential.1 is a HybridSequential"):
        other.load(prefix)
    with pytest.raises(mx.MXNetError, match="missing-model.json is not a saved model"):
        other.load(str(tmp_path / "missing"))
    (tmp_path / "empty-model.json").write_text("{}")
    with pytest.raises(mx.MXNetError, match="Sequential is not described"):
        other.load(str(tmp_path / "empty"))


def test_hook_sees_arrays_and_gradients_flow():
    net, seen = network(), {}
    net.initialize(mx.init.One())
    net.hybridize()
    net.register_op_hook(lambda name, operator, array: seen.update({name: array.asnumpy()}))
    with mx.autograd.record():
        out = net(mx.nd.ones((2, 5)))
    out.backward()
    (last,) = (name for name in seen if "dropout" in name)
    np.testing.assert_array_equal(seen[last], out.asnumpy())
    assert net[0].weight.grad().shape == (4, 5)


def test_shapes_and_types_are_inferred():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 3), nn.BatchNorm(), nn.Dense(2))
    assert net[0].pre_infer() == (4, -1, 3, 3)
    net.infer_shape(mx.nd.zeros((1, 3, 6, 6)))
    assert net[0].weight.shape == (4, 3, 3, 3)
    assert net[1].running_var.shape == (4,)
    assert net[2].weight.shape == (2, 64)
    net.infer_type(mx.nd.zeros((1, 3, 6, 6)))
    assert {np.dtype(p.dtype) for p in net.collect_params().values()} == {np.dtype("float32")}
    with pytest.raises(mx.MXNetError, match="expected dtype float64, got float32"):
        net.infer_type(mx.nd.zeros((1, 3, 6, 6), dtype="float64"))


def test_rows_are_not_picked_from_dense_parameters():
    weight = nn.Dense(2, in_units=2).weight
    with pytest.raises(RuntimeError, match="storage type is default"):
        weight.row_sparse_data(mx.nd.array([0]))
    with pytest.raises(RuntimeError, match="storage type is default"):
        weight.list_row_sparse_data(mx.nd.array([0]))


@pytest.mark.parametrize(
    ("make", "mode", "layers", "options"),
    [
        (mx.gluon.rnn.LSTM, "lstm", 1, {}),
        (mx.gluon.rnn.GRU, "gru", 2, {"bidirectional": True}),
        (mx.gluon.rnn.RNN, "rnn_relu", 2, {}),
        (mx.gluon.rnn.LSTM, "lstm", 2, {"projection_size": 2}),
    ],
)
def test_parameters_of_rnn_are_split(make, mode, layers, options):
    layer = make(3, layers, input_size=4, **options)
    layer.initialize(mx.init.Normal(1))
    own = len(layer.prefix)
    parameters = {name[own:]: p for name, p in layer.collect_params().items()}
    ordered = [p for name, p in parameters.items() if name.endswith("weight")]
    ordered += [p for name, p in parameters.items() if name.endswith("bias")]
    joined = mx.nd.concat(*[p.data().reshape((-1,)) for p in ordered], dim=0)
    actual = mx.gluon.utils.split_rnn_params(joined, mode, layers, 4, 3, **options)
    assert actual.keys() == parameters.keys()
    for name, array in actual.items():
        np.testing.assert_array_equal(array.asnumpy(), parameters[name].data().asnumpy())


@pytest.mark.parametrize("options", [{}, {"bidirectional": True}, {"projection_size": 2}])
def test_parameters_of_rnn_load_from_one_array(options, tmp_path):
    source, target = nn.Sequential(), nn.Sequential()
    for net in (source, target):
        net.add(mx.gluon.rnn.LSTM(3, 2, input_size=0 if net is target else 4, **options))
    source.initialize(mx.init.Normal(1))
    parameters = source._collect_params_with_prefix()
    ordered = sorted(parameters, key=lambda name: name.endswith("bias"))  # stable
    joined = mx.nd.concat(*[parameters[n].data().reshape((-1,)) for n in ordered], dim=0)
    mx.nd.save(str(tmp_path / "net.params"), {"0.rnn_param": joined})
    target.load_parameters(str(tmp_path / "net.params"))
    for name, parameter in target._collect_params_with_prefix().items():
        expected = parameters[name].data().asnumpy()
        np.testing.assert_array_equal(parameter.data().asnumpy(), expected)
    mx.nd.save(str(tmp_path / "net.params"), {"0.rnn_param": joined[1:]})
    with pytest.raises(ValueError, match="does not fit 2 layers of lstm with 3 units"):
        target.load_parameters(str(tmp_path / "net.params"))


def test_dictionaries_with_full_names_load():
    net = network()
    net.initialize(mx.init.Normal(1))
    inputs = mx.nd.ones((2, 5))
    expected = net(inputs).asnumpy()
    values = {name: parameter.data().copy() for name, parameter in net.collect_params().items()}
    net.initialize(mx.init.Zero(), force_reinit=True)
    net.load_dict(values)
    np.testing.assert_array_equal(net(inputs).asnumpy(), expected)


def test_names_of_recurrent_layers_are_those_of_cells():
    layer, other = (mx.gluon.rnn.GRU(2, 1, bidirectional=True, input_size=3) for _ in range(2))
    layer.initialize(mx.init.Normal(1))
    names = list(layer._collect_params_with_prefix())
    assert names[0] == "_unfused.0.l_cell.i2h_weight" and names[-1] == "_unfused.0.r_cell.h2h_bias"
    other.share_parameters(layer.collect_params())
    assert other.r0_h2h_bias is layer.r0_h2h_bias
    third = mx.gluon.rnn.GRU(2, 1, bidirectional=True, input_size=3)
    own = {name: parameter.data() for name, parameter in layer._reg_params.items()}
    third.load_dict(own)
    expected = layer.l0_h2h_weight.data().asnumpy()
    np.testing.assert_array_equal(third.l0_h2h_weight.data().asnumpy(), expected)


def test_symbol_blocks_export_infer_and_show(tmp_path):
    net = nn.HybridSequential()
    net.add(nn.Dense(3), nn.BatchNorm())
    net.initialize(mx.init.Normal(1))
    net.hybridize()
    inputs = mx.nd.ones((2, 4))
    expected = net(inputs).asnumpy()
    first = net.export(str(tmp_path / "first"))
    block = mx.gluon.SymbolBlock.imports(first[0], ["data"], first[1])
    second = block.export(str(tmp_path / "second"))
    seen = []
    block = mx.gluon.SymbolBlock.imports(second[0], ["data"], second[1])
    block.register_op_hook(lambda name, operator, array: seen.append(operator))
    np.testing.assert_allclose(block(inputs).asnumpy(), expected, rtol=1e-6)
    assert seen[0] == "FullyConnected" and "BatchNorm" in seen
    waiting = mx.gluon.SymbolBlock.imports(second[0], ["data"])
    waiting.infer_shape(inputs)
    shapes = [p.shape for p in waiting.collect_params().values()]
    assert shapes[:2] == [(3, 4), (3,)]


def test_a_misspelled_input_is_named():
    outputs = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=3)
    block = mx.gluon.SymbolBlock(outputs, mx.sym.var("dat"))
    block.initialize()
    for _ in range(2):
        with pytest.raises(AssertionError, match="has no input 'dat'; did you mean 'data'"):
            block(mx.nd.ones((2, 4)))
