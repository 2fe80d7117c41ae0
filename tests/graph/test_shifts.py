"""Gradients of biases that a normalisation by batch statistics removes are zeros."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.graph.builder import Builder
from mxcy.graph.evaluate import evaluate
from mxcy.graph.gradient import gradient
from mxcy.graph.passes import norms, shifts
from mxcy.graph.verify import verify
from tests.graph.graphs import spec, values_for


def graph_of(train=True, relu=True, between=False, **attrs):
    """A convolution with bias before a normalisation, with its backward pass."""
    b = Builder(train)
    F = b.values

    def variable(name, *shape):
        return b.value(b.variable(name, spec(*shape)))

    x = variable("x", 2, 3, 6, 5)
    y = F.Convolution(
        x, variable("w", 4, 3, 3, 3), variable("bias", 4), kernel=(3, 3), num_filter=4
    )
    if between:
        y = F.square(y)
    states = [variable(name, 4) for name in ("gamma", "beta", "mean", "var")]
    y = F.BatchNorm(y, *states, **{"fix_gamma": False, **attrs})
    graph = norms.run(b.finish([F.square(F.relu(y) if relu else y).entry]))
    wrt = [n for n in graph.variables() if graph.nodes[n].name in ("w", "bias", "gamma")]
    return gradient(graph, wrt, [False], train=train)


@pytest.mark.parametrize("relu", [False, True])
def test_the_gradient_of_the_bias_is_zero(relu):
    graph = graph_of(relu=relu)
    new = verify(shifts.run(graph, None), "shifts")
    assert new.count_ops()["_zeros"] == 1 and "sum" not in new.count_ops()
    values = values_for(graph)
    for one, other in zip(evaluate(graph, values)[0], evaluate(new, values)[0], strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-4, atol=2e-4)


@pytest.mark.parametrize(
    "how", [{"between": True}, {"use_global_stats": True}, {"train": False}, {"axis": 2}]
)
def test_other_gradients_are_computed(how):
    channels = {"relu": False} if "axis" in how else {}
    if "axis" in how:  # the bias shifts single channels, the normalisation removes shifts of rows
        how = {"axis": 2}
    graph = graph_of(**how, **channels)
    assert shifts.run(graph, None) is graph


def test_networks_train_as_before():
    """Other parameters learn the same as with single operators, and the bias stays."""
    weights = []
    for hybrid in (False, True):
        mx.random.seed(5)
        net = mx.gluon.nn.HybridSequential()
        net.add(mx.gluon.nn.Conv2D(4, 3, in_channels=2, bias_initializer="ones"))
        net.add(mx.gluon.nn.BatchNorm(in_channels=4), mx.gluon.nn.Dense(3, in_units=4 * 36))
        net.initialize(mx.init.Xavier())
        if hybrid:
            net.hybridize()
        trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
        data = mx.nd.random.normal(shape=(5, 2, 8, 8))
        for _ in range(3):
            with mx.autograd.record():
                error = net(data).square().mean()
            error.backward()
            trainer.step(1)
        weights.append([p.data().asnumpy() for p in net.collect_params().values()])
    for one, other in zip(*weights, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-5)
    assert (weights[1][1] == 1).all()
