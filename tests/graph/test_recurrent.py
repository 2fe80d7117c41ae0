"""Parameters of recurrent layers: concatenated once, and again after one was written."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import gluon
from mxcy.graph.planning.plan import ONCE


def network(mode, **more):
    layer = {"lstm": gluon.rnn.LSTM, "gru": gluon.rnn.GRU, "rnn": gluon.rnn.RNN}[mode]
    net = layer(6, num_layers=2, input_size=5, **more)
    net.initialize()
    net.hybridize(inline_limit=0)
    return net


def plans(net):
    """The graphs and plans that a hybridized network holds."""
    return [bound.planned for bound in net._calls._traced[0][1]._cached._plans.values()]


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("mode", ["lstm", "gru", "rnn"])
def test_joined_once_until_written(mode, bidirectional):
    net = network(mode, bidirectional=bidirectional)
    data = mx.nd.random.uniform(shape=(3, 2, 5))
    for _ in range(2):
        for _ in range(2):  # the second run reuses the first one's concatenation
            actual = net(data).asnumpy()
        net.hybridize(False)
        np.testing.assert_allclose(actual, net(data).asnumpy(), atol=1e-6)
        net.hybridize(inline_limit=0)
        for parameter in net.collect_params().values():
            parameter.set_data(parameter.data() * 0.5 + 0.1)
    net(data)
    assert np.abs(net(data).asnumpy() - actual).max() > 1e-3


def test_only_the_joined_array_is_kept():
    net = network("lstm")
    net(mx.nd.random.uniform(shape=(3, 2, 5)))
    (planned,) = plans(net)
    once = [node.op.name for node in planned.graph.nodes if node.op and ONCE in node.extra]
    assert "_rnn_param_concat" in once and set(once) <= {"_rnn_param_concat", "Reshape"}
    assert "RNN" not in once
    size = sum(parameter.data().size for parameter in net.collect_params().values())
    assert [array.size for array in planned._constants.arrays if array is not None] == [size]


def test_parameters_that_are_computed_are_computed_in_each_run():
    data, scale, weights = (mx.sym.var(name) for name in ("data", "scale", "weights"))
    state, half = mx.sym.var("state"), mx.sym.Dropout(data, p=0.5, mode="always")
    joined = mx.sym.broadcast_mul(weights, mx.sym.mean(half) * 0 + scale)
    out = mx.sym.RNN(data, joined, state, state_size=2, num_layers=1, mode="rnn_tanh")
    arrays = {
        "data": mx.nd.ones((2, 1, 3)),
        "scale": mx.nd.ones((1,)),
        "weights": mx.nd.ones((14,)),
        "state": mx.nd.zeros((1, 1, 2)),
    }
    bound = out.bind(mx.cpu(), arrays)
    before = bound.forward()[0].asnumpy()
    arrays["scale"][:] = 0
    assert before.any() and not bound.forward()[0].asnumpy().any()
