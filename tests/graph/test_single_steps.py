"""Recurrent layers that run one step of one sequence: their weights in panels of units."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import gluon

UNITS, WIDTH = 150, 90  # the last panel has 6 units


def network(kind, **more):
    net = getattr(gluon.rnn, kind)(UNITS, num_layers=2, input_size=WIDTH, **more)
    net.initialize(mx.init.Uniform(0.3))
    return net


def operators(net):
    """The operators that a hybridized network runs, per traced input."""
    entries = net._calls._traced[0][1]._cached._plans.values()
    return [{node.op.name for node in entry.planned.graph.nodes if node.op} for entry in entries]


def run(net, steps=1, batch=1):
    """The output and the new states of a call."""
    data = mx.nd.random.uniform(-1, 1, shape=(steps, batch, WIDTH))
    states = [mx.nd.random.uniform(-1, 1, state.shape) for state in net.begin_state(batch)]
    out, new = net(data, states)
    return (data, states), [array.asnumpy() for array in (out, *new)]


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_a_step_follows_written_parameters(kind, bidirectional):
    net = network(kind, bidirectional=bidirectional)
    net.hybridize(inline_limit=0)
    for factor in (1, 0.5):
        for parameter in net.collect_params().values():
            parameter.set_data(parameter.data() * factor)
        for _ in range(2):  # the second call reuses the panels
            inputs, actual = run(net)
        assert "_rnn_single_step" in operators(net)[0]
        net.hybridize(False)
        out, new = net(*inputs)
        for array, expected in zip(actual, (out, *new), strict=True):
            np.testing.assert_allclose(array, expected.asnumpy(), rtol=1e-5, atol=1e-5)
        net.hybridize(inline_limit=0)


@pytest.mark.parametrize("steps, batch", [(2, 1), (1, 2)])
def test_several_steps_or_sequences_keep_rows_of_weights(steps, batch):
    net = network("LSTM")
    net.hybridize(inline_limit=0)
    run(net, steps, batch)
    assert "RNN" in operators(net)[0]


def test_only_the_panels_are_kept():
    net = network("LSTM")
    net.hybridize(inline_limit=0)
    run(net)
    (entry,) = net._calls._traced[0][1]._cached._plans.values()
    size = sum(parameter.data().size for parameter in net.collect_params().values())
    kept = [array.size for array in entry.planned._constants.arrays if array is not None]
    assert kept == [size]


def test_more_than_one_step_is_refused():
    arrays = [mx.nd.zeros(shape) for shape in ((2, 1, 3), (36,), (1, 1, 4))]
    with pytest.raises(mx.MXNetError, match="_rnn_single_step.*data: expected one step"):
        mx.nd._internal._rnn_single_step(*arrays, mode="rnn_tanh", state_size=4, num_layers=1)
