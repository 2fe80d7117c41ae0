"""Recurrent layers beyond the battery: lengths, clipping, dropout, errors."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd
from mxcy.base import MXNetError

GATES = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}
STEPS, BATCH, INPUTS, HIDDEN = 6, 3, 4, 5


class Net:
    """Random arrays for a stack of layers, and calls of it."""

    def __init__(self, mode, layers=1, directions=1, seed=0, **attrs):
        rng = np.random.default_rng(seed)
        sources = [INPUTS] + [directions * HIDDEN] * (layers - 1)
        count = sum(GATES[mode] * HIDDEN * (s + HIDDEN + 2) for s in sources) * directions
        self.data = rng.uniform(-1, 1, (STEPS, BATCH, INPUTS)).astype(np.float32)
        self.parameters = mx.nd.array(rng.uniform(-1, 1, count))
        shape = (layers * directions, BATCH, HIDDEN)
        self.states = [rng.uniform(-1, 1, shape) for _ in range(1 + (mode == "lstm"))]
        self.attrs = {
            "mode": mode,
            "num_layers": layers,
            "state_size": HIDDEN,
            "bidirectional": directions == 2,
            "state_outputs": True,
            **attrs,
        }

    def __call__(self, data=None, states=None, lengths=None, **attrs):
        data = mx.nd.array(self.data if data is None else data)
        states = [mx.nd.array(x) for x in (self.states if states is None else states)]
        more = []
        if lengths is not None:
            more, attrs = [mx.nd.array(lengths)], {**attrs, "use_sequence_length": True}
        return mx.nd.RNN(data, self.parameters, *states, *more, **{**self.attrs, **attrs})


@pytest.mark.parametrize("layers, directions", [(1, 1), (1, 2), (2, 2)])
@pytest.mark.parametrize("mode", GATES)
def test_lengths_are_those_of_sequences_run_alone(mode, layers, directions):
    net, lengths = Net(mode, layers, directions), [6, 1, 4]
    together = [x.asnumpy() for x in net(lengths=lengths)]
    for i, length in enumerate(lengths):
        alone = net(net.data[:length, i : i + 1], [x[:, i : i + 1] for x in net.states])
        out, *states = (x.asnumpy() for x in alone)
        np.testing.assert_allclose(together[0][:length, i], out[:, 0], rtol=1e-6, atol=2e-6)
        assert not together[0][length:, i].any()
        for actual, expected in zip(together[1:], states, strict=True):
            np.testing.assert_allclose(actual[:, i], expected[:, 0], rtol=1e-6, atol=2e-6)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("mode", GATES)
def test_a_sequence_can_be_run_step_by_step(mode, layers):
    net = Net(mode, layers)
    expected, states, outs = [x.asnumpy() for x in net()], net.states, []
    for step in net.data:
        out, *states = (x.asnumpy() for x in net(step[None], states))
        outs.append(out[0])
    np.testing.assert_allclose(outs, expected[0], rtol=1e-6, atol=2e-6)
    for actual, state in zip(states, expected[1:], strict=True):
        np.testing.assert_allclose(actual, state, rtol=1e-6, atol=2e-6)


@pytest.mark.parametrize("mode", GATES)
def test_gradients_with_lengths_are_those_of_sequences_run_alone(mode):
    net, lengths = Net(mode, 2, 2), [6, 2, 4]
    net.parameters.attach_grad(grad_req="add")
    with autograd.record():
        out = net(lengths=lengths)
        loss = (out[0] * out[0]).sum() + out[1].sum()
    loss.backward()
    together = net.parameters.grad.asnumpy().copy()
    net.parameters.grad[:] = 0
    for i, length in enumerate(lengths):
        with autograd.record():
            out = net(net.data[:length, i : i + 1], [x[:, i : i + 1] for x in net.states])
            loss = (out[0] * out[0]).sum() + out[1].sum()
        loss.backward()
    np.testing.assert_allclose(together, net.parameters.grad.asnumpy(), rtol=1e-4, atol=1e-4)


def test_states_are_clipped():
    net = Net("lstm", lstm_state_clip_min=-0.1, lstm_state_clip_max=0.2)
    cell = net()[2].asnumpy()
    assert cell.min() >= np.float32(-0.1) and cell.max() <= np.float32(0.2)


def test_nan_is_clipped_on_request():
    net = Net("lstm", lstm_state_clip_min=-1, lstm_state_clip_max=1)
    net.states[1][:] = np.nan
    assert np.isnan(net()[2].asnumpy()).all()
    assert not np.isnan(net(lstm_state_clip_nan=True)[2].asnumpy()).any()


def test_dropout_between_layers_in_training_only():
    net = Net("gru", 3, p=0.5)
    plain = net()[0].asnumpy()
    np.testing.assert_array_equal(plain, net(p=0.0)[0].asnumpy())
    with autograd.train_mode():
        mx.random.seed(1)
        first = net()[0].asnumpy()
        mx.random.seed(1)
        np.testing.assert_array_equal(first, net()[0].asnumpy())
        assert not np.array_equal(first, net()[0].asnumpy())
    assert not np.array_equal(first, plain)


def test_gradient_uses_the_dropout_mask_of_the_forward_pass():
    net = Net("rnn_tanh", 2, p=0.9)
    net.parameters.attach_grad()
    seen = []
    for shift in (0, 1e-2, -1e-2):  # the first weight of the second layer
        moved = net.parameters.asnumpy().copy()
        moved[INPUTS * HIDDEN + HIDDEN * HIDDEN] += shift
        net.parameters[:] = moved
        mx.random.seed(3)
        with autograd.record():
            loss = net()[0].sum()
        loss.backward()
        seen.append((float(loss.asscalar()), net.parameters.grad.asnumpy()))
        moved[INPUTS * HIDDEN + HIDDEN * HIDDEN] -= shift
        net.parameters[:] = moved
    slope = (seen[1][0] - seen[2][0]) / 2e-2
    assert abs(seen[0][1][INPUTS * HIDDEN + HIDDEN * HIDDEN] - slope) < 2e-2 * (1 + abs(slope))


def random_rnn(mode, batch, hidden, steps=7, inputs=70):
    """The arguments of a layer of random numbers."""
    rng = np.random.default_rng(0)
    gates = {"rnn_tanh": 1, "gru": 3, "lstm": 4}[mode]
    shapes = [(steps, batch, inputs), (gates * hidden * (inputs + hidden + 2),)]
    shapes += [(1, batch, hidden)] * (1 + (mode == "lstm"))
    arrays = [mx.nd.array(rng.uniform(-0.1, 0.1, shape)) for shape in shapes]
    return arrays, {"mode": mode, "num_layers": 1, "state_size": hidden, "state_outputs": True}


def test_large_layers_agree_with_lengths():
    arrays, attrs = random_rnn("lstm", 20, 130)
    actual = mx.nd.RNN(*arrays, **attrs)
    expected = mx.nd.RNN(*arrays, mx.nd.full((20,), 7), use_sequence_length=True, **attrs)
    for x, y in zip(actual, expected, strict=True):
        np.testing.assert_allclose(x.asnumpy(), y.asnumpy(), atol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("mode", ["rnn_tanh", "gru", "lstm"])
@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("batch, hidden", [(1, 300), (3, 256), (8, 331)])
def test_single_steps_of_large_layers(batch, hidden, directions, mode, dtype):
    """Members of a team take units through the step; with lengths they take sequences."""
    rng = np.random.default_rng(batch)
    gates, layers, inputs = {"rnn_tanh": 1, "gru": 3, "lstm": 4}[mode], 2, 270
    sources = [inputs, directions * hidden]
    count = sum(gates * hidden * (source + hidden + 2) for source in sources) * directions
    shapes = [(1, batch, inputs), (count,)]
    shapes += [(layers * directions, batch, hidden)] * (1 + (mode == "lstm"))
    arrays = [mx.nd.array(rng.uniform(-0.1, 0.1, shape), dtype=dtype) for shape in shapes]
    attrs = {"mode": mode, "num_layers": layers, "state_size": hidden, "state_outputs": True}
    attrs["bidirectional"] = directions == 2
    expected = mx.nd.RNN(*arrays, mx.nd.ones(batch), use_sequence_length=True, **attrs)
    before, results = mx.util.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            mx.util.set_num_threads(threads)
            results.append([x.asnumpy() for x in mx.nd.RNN(*arrays, **attrs)])
    finally:
        mx.util.set_num_threads(before)
    for actual, again, third, want in zip(*results, expected, strict=True):
        np.testing.assert_allclose(actual, want.asnumpy(), rtol=2e-5, atol=2e-6)
        assert actual.tobytes() == again.tobytes() == third.tobytes()


# With 3 sequences or 300 units a team shares each step's product; else it shares sequences.
@pytest.mark.parametrize("batch, hidden", [(40, 130), (3, 520), (9, 300)])
@pytest.mark.parametrize("mode", ["rnn_tanh", "gru", "lstm"])
def test_results_do_not_depend_on_the_team(mode, batch, hidden):
    arrays, attrs = random_rnn(mode, batch, hidden)
    for array in arrays:
        array.attach_grad()
    before, results = mx.util.get_num_threads(), []
    try:
        for threads in (1, 2, 5):
            mx.util.set_num_threads(threads)
            with autograd.record():
                outputs = mx.nd.RNN(*arrays, **attrs)
                loss = sum((output * output).sum() for output in outputs)
            loss.backward()
            numbers = [*outputs, *(array.grad for array in arrays)]
            results.append([array.asnumpy().tobytes() for array in numbers])
    finally:
        mx.util.set_num_threads(before)
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize(
    "mode, attrs, message",
    [
        ("gru", dict(projection_size=2), "projection_size"),
        ("lstm", dict(lstm_state_clip_min=0.5), "lstm_state_clip_max"),
        ("lstm", dict(num_layers=0), "num_layers"),
        ("lstm", dict(state_size=7), "parameters: expected shape"),
        ("rnn_relu", dict(p=1.5), "p: must be in"),
    ],
)
def test_refusals(mode, attrs, message):
    with pytest.raises(MXNetError, match=f"operator RNN: .*{message}"):
        Net(mode)(**attrs)


def test_no_steps():
    net = Net("lstm")
    out, state, cell = net(np.zeros((0, BATCH, INPUTS)))
    assert out.shape == (0, BATCH, HIDDEN)
    np.testing.assert_allclose(state.asnumpy(), net.states[0], rtol=1e-6)
    np.testing.assert_allclose(cell.asnumpy(), net.states[1], rtol=1e-6)


def test_symbols_infer_and_name_like_mxnet():
    data = mx.sym.var("data")
    net = mx.sym.RNN(
        data,
        state_size=4,
        num_layers=2,
        bidirectional=True,
        mode="lstm",
        state_outputs=True,
        name="net",
    )
    assert net.list_arguments() == ["data", "net_parameters", "net_state", "net_state_cell"]
    assert net.list_outputs() == ["net_output", "net_state_output", "net_statecell_output"]
    arguments, outputs, _ = net.infer_shape(data=(5, 3, 2))
    assert arguments == [(5, 3, 2), (704,), (4, 3, 4), (4, 3, 4)]
    assert outputs == [(5, 3, 8), (4, 3, 4), (4, 3, 4)]
