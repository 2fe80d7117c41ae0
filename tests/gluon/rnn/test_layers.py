"""Recurrent layers and cells."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd
from mxcy.gluon import rnn
from tests.gluon.rnn.cases import CASES, FILE, run

STEPS, BATCH, WIDTH, HIDDEN = 5, 3, 4, 6


@pytest.fixture
def data():
    return mx.nd.random.uniform(-1, 1, (STEPS, BATCH, WIDTH))


@pytest.mark.parametrize("case", CASES)
def test_equals_mxnet(case):
    with np.load(FILE) as expected:
        for part, actual in run(mx, case).items():
            np.testing.assert_allclose(actual, expected[f"{case}/{part}"], rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize(
    "layer, cell",
    [
        (rnn.LSTM(HIDDEN), rnn.LSTMCell(HIDDEN)),
        (rnn.GRU(HIDDEN), rnn.GRUCell(HIDDEN)),
        (rnn.RNN(HIDDEN), rnn.RNNCell(HIDDEN, activation="relu")),
        (rnn.LSTM(HIDDEN, projection_size=2), rnn.LSTMPCell(HIDDEN, 2)),
    ],
)
def test_layers_are_cells_unrolled(layer, cell, data):
    layer.initialize()
    cell.initialize()
    out, states = layer(data, layer.begin_state(BATCH))
    cell.unroll(STEPS, data, layout="TNC")
    for name, parameter in cell.collect_params().items():
        ending = name.rpartition("_")[0].rpartition("_")[2] + "_" + name.rpartition("_")[2]
        parameter.set_data(getattr(layer, f"l0_{ending}").data())
    stepped, last = cell.unroll(STEPS, data, layout="TNC", merge_outputs=True)
    np.testing.assert_allclose(out.asnumpy(), stepped.asnumpy(), atol=1e-6)
    for actual, expected in zip(last, states, strict=True):
        np.testing.assert_allclose(actual.asnumpy(), expected.asnumpy()[0], atol=1e-6)


@pytest.mark.parametrize("kind", [rnn.LSTM, rnn.GRU, rnn.RNN])
@pytest.mark.parametrize("layout", ["TNC", "NTC"])
def test_hybridized_layers_agree(kind, layout, data):
    net = kind(HIDDEN, 2, layout=layout, bidirectional=True)
    net.initialize()
    inputs = data if layout == "TNC" else data.swapaxes(0, 1)
    inputs.attach_grad()
    seen = []
    for _ in range(2):
        with autograd.record():
            out = net(inputs)
        out.backward()
        seen.append((out.asnumpy(), inputs.grad.asnumpy()))
        net.hybridize()
    for first, second in zip(*seen, strict=True):
        np.testing.assert_allclose(first, second, atol=1e-6)


def test_a_network_around_a_layer_is_exported(tmp_path, data):
    class Net(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.layer = rnn.LSTM(HIDDEN, 2)
                self.dense = mx.gluon.nn.Dense(3, flatten=False)

        def hybrid_forward(self, F, x):
            return self.dense(self.layer(x))

    net = Net()
    net.initialize()
    net.hybridize()
    expected = net(data).asnumpy()
    files = net.export(str(tmp_path / "net"))
    loaded = mx.gluon.SymbolBlock.imports(files[0], ["data"], files[1])
    np.testing.assert_allclose(loaded(data).asnumpy(), expected, atol=1e-6)


def test_parameters_are_named_as_in_mxnet():
    net = rnn.LSTM(HIDDEN, 2, bidirectional=True, prefix="lstm0_")
    endings = ("i2h_weight", "h2h_weight", "i2h_bias", "h2h_bias")
    assert list(net.collect_params()) == [
        f"lstm0_{direction}{layer}_{ending}"
        for layer in (0, 1)
        for direction in "lr"
        for ending in endings
    ]
    assert net.state_info(7)[0]["shape"] == (4, 7, HIDDEN)


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize("hybridize", [False, True])
def test_sequence_lengths_reach_the_layer(data, kind, hybridize):
    net = getattr(rnn, kind)(HIDDEN, input_size=WIDTH, use_sequence_length=True)
    net.initialize()
    net.hybridize(hybridize)
    out = net(data, sequence_length=mx.nd.array([2, 5, 3])).asnumpy()
    assert not out[2:, 0].any() and not out[3:, 2].any() and out[4, 1].any()
    with pytest.raises(mx.MXNetError, match="needs sequence_length"):
        net(data)


def test_layers_tell_their_gates_and_directions():
    assert (rnn.LSTM(3, bidirectional=True)._gates, rnn.LSTM(3, bidirectional=True)._dir) == (4, 2)
    assert (rnn.GRU(3)._gates, rnn.GRU(3)._dir, rnn.RNN(3)._gates) == (3, 1, 1)


def test_wrong_arguments_fail_assertions(data):
    for text, make in (
        ("Invalid layout XYZ", lambda: rnn.LSTM(3, layout="XYZ")),
        ("rate must be a number", lambda: rnn.DropoutCell("a")),
        ("odd number", lambda: rnn.Conv2DLSTMCell((2, 4, 4), 3, 3, 2)),
        ("expected 9 steps", lambda: rnn.RNNCell(2).unroll(9, [data[0]])),
    ):
        with pytest.raises(AssertionError, match=text):
            make()


def test_states_of_a_wrong_shape_are_refused(data):
    net = rnn.LSTM(HIDDEN)
    net.initialize()
    with pytest.raises(ValueError, match="Invalid recurrent state shape"):
        net(data, net.begin_state(BATCH + 1))


def test_zoneout_keeps_states_in_training_only(data):
    cell = rnn.ZoneoutCell(rnn.RNNCell(HIDDEN), zoneout_outputs=0.5, zoneout_states=0.5)
    cell.initialize()
    plain, _ = cell.unroll(STEPS, data, layout="TNC", merge_outputs=True)
    base, _ = _unmodified(cell).unroll(STEPS, data, layout="TNC", merge_outputs=True)
    np.testing.assert_array_equal(plain.asnumpy(), base.asnumpy())
    with autograd.train_mode():
        kept, _ = cell.unroll(STEPS, data, layout="TNC", merge_outputs=True)
    kept = kept.asnumpy()
    assert (kept[0] == 0).any() and (kept[1] == kept[0]).any()


def _unmodified(modifier):
    modifier.base_cell._modified = False
    return modifier.base_cell


def test_variational_dropout_drops_the_same_at_all_steps():
    cell = rnn.VariationalDropoutCell(
        rnn.RNNCell(50, activation="relu", i2h_bias_initializer="ones"), drop_outputs=0.5
    )
    cell.initialize()
    with autograd.train_mode():
        out, _ = cell.unroll(
            STEPS, mx.nd.zeros((STEPS, 1, WIDTH)), layout="TNC", merge_outputs=True
        )
    zero = out.asnumpy()[:, 0] == 0
    assert (zero == zero[0]).all() and 0 < zero[0].sum() < 50


def test_modifiers_merge_outputs_as_their_cells_do(data):
    lengths = mx.nd.array([1, 2, 5])

    def unrolled(wrap, **options):
        cell = wrap(rnn.RNNCell(WIDTH, input_size=WIDTH))
        cell.initialize()
        return cell.unroll(STEPS, data, layout="TNC", **options)[0]

    for options, merged in (({}, False), ({"valid_length": lengths}, True)):
        assert isinstance(unrolled(rnn.ResidualCell, **options), mx.nd.NDArray) == merged
        assert unrolled(rnn.VariationalDropoutCell, **options).shape == data.shape
    residual = unrolled(rnn.ResidualCell, valid_length=lengths).asnumpy()
    assert not residual[1:, 0].any() and residual[4, 2].all()
    for wrap in (rnn.ResidualCell, rnn.VariationalDropoutCell):
        steps = unrolled(wrap, valid_length=lengths, merge_outputs=False)
        assert [step.shape for step in steps] == [data.shape[1:]] * STEPS


def test_dropout_cell_works_on_whole_sequences(data):
    cell = rnn.DropoutCell(0.5, axes=(0,))
    with autograd.train_mode():
        out, states = cell.unroll(STEPS, data, layout="TNC", merge_outputs=True)
    assert states == []
    zero = out.asnumpy() == 0
    assert (zero == zero[0]).all() and zero.any()


def test_a_modified_cell_is_not_called_itself():
    cell = rnn.LSTMCell(HIDDEN)
    rnn.ResidualCell(cell)
    with pytest.raises(AssertionError, match="modifier"):
        cell.begin_state(2)
    with pytest.raises(AssertionError, match="already modified"):
        rnn.ZoneoutCell(cell)


def test_bidirectional_cells_are_unrolled_only():
    cell = rnn.BidirectionalCell(rnn.RNNCell(2), rnn.RNNCell(2))
    with pytest.raises(NotImplementedError, match="unroll"):
        cell(mx.nd.ones((1, 2)), [])
    with pytest.raises(TypeError, match="zoneout"):
        rnn.ZoneoutCell(cell)


@pytest.mark.parametrize("kind", [rnn.RNN, rnn.LSTM, rnn.GRU])
def test_results_with_states_are_a_list_once_hybridized(data, kind):
    layer = kind(2)
    layer.initialize()
    states = layer.begin_state(data.shape[1])
    plain = layer(data, states)
    layer.hybridize()
    planned = layer(data, states)
    assert (type(plain), type(planned)) == (tuple, list)
    assert type(plain[1]) is type(planned[1]) is list
    np.testing.assert_allclose(planned[0].asnumpy(), plain[0].asnumpy(), rtol=1e-5, atol=1e-6)


def test_unroll_refuses_wrong_lengths(data):
    cell = rnn.RNNCell(2)
    with pytest.raises(AssertionError, match="expected 9 steps"):
        cell.unroll(9, data, layout="TNC")
    with pytest.raises(AssertionError, match="layout"):
        cell.unroll(STEPS, data, layout="TNX")


def test_cells_unroll_symbols():
    cell = rnn.LSTMCell(HIDDEN, prefix="lstm_")
    outputs, _ = cell.unroll(3, mx.sym.var("data"), layout="NTC", merge_outputs=True)
    _, shapes, _ = outputs.infer_shape(data=(2, 3, WIDTH))
    assert shapes == [(2, 3, HIDDEN)]
    assert set(outputs.list_arguments()) >= {"data", "lstm_i2h_weight", "lstm_h2h_bias"}


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_convolutional_cells_keep_the_extents(kind, dims):
    cell = getattr(rnn, f"Conv{dims}D{kind}Cell")((2,) + (5,) * dims, 3, 3, 3, i2h_pad=1)
    cell.initialize()
    out, states = cell(mx.nd.ones((2, 2) + (5,) * dims), cell.begin_state(2))
    assert out.shape == (2, 3) + (5,) * dims and states[0].shape == out.shape
    assert len(states) == 1 + (kind == "LSTM")


def test_convolutional_cells_refuse_even_kernels():
    with pytest.raises(AssertionError, match="odd"):
        rnn.Conv1DRNNCell((2, 5), 3, 3, 2)


def test_names_of_cells():
    cell = mx.gluon.rnn.RNNCell(3, input_size=2, prefix="r_")
    assert repr(cell) == "RNNCell(2 -> 3, tanh)"
    residual = mx.gluon.rnn.ResidualCell(cell)
    assert residual.name == residual.prefix == "r_residualcell"


# -- names and stacks of cells ---------------------------------------------------------------------


def bidirectional():
    cells = [rnn.LSTMCell(4, prefix=f"{way}0_") for way in "lr"]
    return rnn.BidirectionalCell(*cells, output_prefix="both_")


def test_names_of_joined_outputs():
    steps = [mx.sym.var(f"x{number}") for number in range(3)]
    outputs = mx.sym.Group(bidirectional().unroll(3, steps)[0])
    assert outputs.list_outputs() == [f"both_t{number}_output" for number in range(3)]
    for options in ({"merge_outputs": True}, {"valid_length": mx.sym.var("valid")}):
        outputs, _ = bidirectional().unroll(3, mx.sym.var("x"), layout="TNC", **options)
        assert "both_out_output" in outputs.get_internals().list_outputs()


def test_names_of_first_states():
    states = rnn.LSTM(4, prefix="layer_").begin_state(func=mx.sym.var)
    assert [state.name for state in states] == ["layer_h0_0", "layer_h0_1"]
    states = rnn.LSTMCell(4, prefix="cell_").begin_state(func=mx.sym.var)
    assert [state.name for state in states] == ["cell_begin_state_0", "cell_begin_state_1"]


@pytest.mark.parametrize("width", [0, 3])
@pytest.mark.parametrize("both_ways", [False, True])
@pytest.mark.parametrize("kind", [rnn.RNN, rnn.LSTM, rnn.GRU])
def test_layers_unfuse_into_cells_with_the_same_parameters(kind, both_ways, width):
    layer = kind(4, num_layers=2, bidirectional=both_ways, input_size=width, dropout=0.5)
    stack = layer._unfuse()
    assert len(stack) == 3
    layer.initialize(mx.init.Xavier())
    x = mx.nd.random.uniform(shape=(5, 2, 3))
    expected = layer(x)
    outputs, _ = stack.unroll(5, x, layout="TNC", merge_outputs=True)
    np.testing.assert_allclose(outputs.asnumpy(), expected.asnumpy(), rtol=1e-4, atol=1e-6)
    assert set(stack.collect_params().keys()) == set(layer.collect_params().keys())


def test_layers_with_unsupported_options_are_not_unfused():
    with pytest.raises(AssertionError, match="projection"):
        rnn.LSTM(4, projection_size=2)._unfuse()
    with pytest.raises(AssertionError, match="bounds"):
        rnn.LSTM(4, state_clip_min=-1, state_clip_max=1)._unfuse()


@pytest.mark.parametrize("options", [{}, {"num_layers": 3}, {"layout": "NTC"}])
@pytest.mark.parametrize("kind", [rnn.RNN, rnn.LSTM, rnn.GRU])
def test_graphs_tell_both_directions_the_width_of_their_inputs(kind, options):
    """A network that has never run eagerly, so that shapes come from its symbol alone."""
    net = mx.gluon.nn.HybridSequential()
    net.add(kind(4, bidirectional=True, **options), mx.gluon.nn.Dense(3))
    net.initialize()
    net.hybridize()
    assert net(mx.nd.ones((2, 3, 7))).shape == (2, 3)
    assert net[0].l0_i2h_weight.shape[1] == net[0].r0_i2h_weight.shape[1] == 7


def test_layers_above_two_directions_are_twice_as_wide():
    stack = rnn.HybridSequentialRNNCell()
    for _ in range(2):
        stack.add(rnn.BidirectionalCell(rnn.LSTMCell(4), rnn.LSTMCell(4)))
    stack.infer_shape(0, mx.nd.ones((1, 5, 3)), False)
    shapes = [list(stack[i]._children.values())[1].i2h_weight.shape for i in (0, 1)]
    assert shapes == [(16, 3), (16, 8)]
