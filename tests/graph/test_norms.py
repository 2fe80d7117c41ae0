"""Normalisations in training graphs fuse the relu after them."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.graph.builder import Builder
from mxcy.graph.evaluate import evaluate
from mxcy.graph.gradient import gradient
from mxcy.graph.passes import norms
from mxcy.graph.verify import verify
from mxcy.ops.core.record import find
from tests.graph.graphs import spec, values_for

STATES = ("gamma", "beta", "mean", "var")
ACTS = {
    "Activation": lambda F, x: F.Activation(x, act_type="relu"),
    "relu": lambda F, x: F.relu(x),
    "relu6": lambda F, x: F.clip(x, a_min=0, a_max=6),
}


def normalised(shape=(3, 4, 2, 5), train=True, **attrs):
    """A builder, and the normalisation of a scaled variable."""
    b = Builder(train)
    x = b.value(b.variable("x", spec(*shape)))
    states = [b.value(b.variable(name, spec(4))) for name in STATES]
    attrs = {"fix_gamma": False, **attrs}
    return b, b.values.BatchNorm(x, states[0] * 4, *states[1:], **attrs)


@pytest.mark.parametrize("act", ACTS)
def test_gradients_stay(act):
    b, y = normalised()
    graph = b.finish([(ACTS[act](b.values, y) * 2).entry])
    fused = verify(norms.run(graph), "norms")
    ops = fused.count_ops()
    assert ops["_batch_norm_relu"] == 1 and not {"BatchNorm", "Activation", "relu", "clip"} & {*ops}
    wanted = [i for i in graph.variables() if graph.nodes[i].name in ("x", "gamma", "beta")]
    names = [graph.nodes[i].name for i in wanted]
    collected = []
    for one in (graph, fused):
        numbers = {one.nodes[i].name: i for i in one.variables()}
        training = gradient(one, [numbers[name] for name in names], [False])
        collected.append(evaluate(training, values_for(graph))[0])
    assert 0 < (collected[0][0] == 0).mean() < 1 and (
        act != "relu6" or (collected[0][0] == 12).any()
    )
    for before, after in zip(*collected, strict=True):
        np.testing.assert_allclose(after, before, rtol=1e-5, atol=1e-5)


def left_alone(builder, *outputs):
    graph = builder.finish([output.entry for output in outputs])
    return norms.run(graph) is graph


def test_results_with_other_readers_are_kept():
    b, y = normalised()
    assert left_alone(b, b.values.relu(y), y)
    b, y = normalised()
    assert left_alone(b, b.values.relu(y) + y)


@pytest.mark.parametrize(
    "attrs",
    [
        {"train": False},
        {"use_global_stats": True},
        {"shape": (6, 4)},
        {"axis": -1, "shape": (3, 2, 4)},
    ],
)
def test_other_normalisations_are_not_fused(attrs):
    b, y = normalised(**attrs)
    assert left_alone(b, b.values.relu(y))


def test_other_activations_are_not_fused():
    for act in (lambda F, x: F.tanh(x), lambda F, x: F.clip(x, a_min=-1, a_max=6)):
        b, y = normalised()
        assert left_alone(b, act(b.values, y))


def test_nodes_that_are_marked_differently_stay():
    b, y = normalised()
    relu = b.value(b.add(find("relu"), {}, [y.entry], "r", {"__force_mirroring__": "True"}))
    assert left_alone(b, relu)


@pytest.mark.parametrize("act", ["relu", "relu6"])
def test_networks_learn_the_same(act, monkeypatch):
    nets = []
    for fusion in ("0", "1"):
        monkeypatch.setenv("MXNET_USE_FUSION", fusion)
        mx.random.seed(3)
        net = mx.gluon.nn.HybridSequential()
        net.add(mx.gluon.nn.Conv2D(6, 3, in_channels=2), mx.gluon.nn.BatchNorm(in_channels=6))
        last = mx.gluon.nn.Activation("relu")
        if act == "relu6":
            last = mx.gluon.nn.HybridLambda(lambda F, x: F.clip(x, 0, 6))
        net.add(last, mx.gluon.nn.Dense(3, in_units=6 * 49))
        net.initialize(mx.init.Xavier())
        net.hybridize()
        trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
        images = mx.nd.array(np.random.RandomState(1).standard_normal((4, 2, 9, 9)))
        for _ in range(3):
            with mx.autograd.record():
                loss = (net(images) ** 2).mean()
            loss.backward()
            trainer.step(1)
        nets.append([p.data().asnumpy() for p in net.collect_params().values()])
    for one, other in zip(*nets, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)
