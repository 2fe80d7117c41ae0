"""Mirroring: what is recomputed, what never is, and that plans do not grow."""

import math
import random

import numpy as np
import pytest

from mxcy.graph.analysis.stages import best_stages, borders
from mxcy.graph.builder import Builder
from mxcy.graph.evaluate import evaluate
from mxcy.graph.gradient import gradient
from mxcy.graph.passes import fuse, mirror
from mxcy.graph.planning.memory import plan_memory
from mxcy.graph.verify import verify
from tests.graph.graphs import calls_of, random_graph, resnet50, spec, target, values_for

MIRROR = {"MXNET_BACKWARD_DO_MIRROR": True}
OPT = {"MXNET_MEMORY_OPT": True}


def size(graph):
    return plan_memory(graph, calls_of(graph), set(graph.outputs), {}).total


def trained(b, out):
    graph = b.finish([out])
    wanted = [n for n in graph.variables() if "moving" not in graph.nodes[n].name]
    return gradient(graph, wanted, has_head_grad=[False])


def copies(graph):
    """The names of the recomputed nodes."""
    return [n.extra["__mirror_of__"] for n in graph.nodes if "__mirror_of__" in n.extra]


def conv_net(blocks=6, extra=None, residual=False):
    """Blocks of convolution, batch normalisation and relu."""
    b = Builder(train=True)
    x = b.variable("data", spec(4, 16, 12, 12))
    for i in range(blocks):
        weight = b.variable(f"w{i}", spec(16, 16, 3, 3))
        states = [
            b.variable(f"{n}{i}", spec(16)) for n in ("gamma", "beta", "moving_mean", "moving_var")
        ]
        attrs = {"kernel": (3, 3), "pad": (1, 1), "num_filter": 16, "no_bias": True}
        y = b.add("Convolution", attrs, [x, weight], f"conv{i}", extra)
        y = b.add("BatchNorm", {"fix_gamma": False}, [y, *states], f"norm{i}", extra)
        if residual:
            y = b.add("elemwise_add", {}, [y, x], f"sum{i}", extra)
        x = b.add("Activation", {"act_type": "relu"}, [y], f"relu{i}", extra)
    return trained(b, x)


def chain(count, operator="sin", extra=None):
    b = Builder(train=True)
    x = b.variable("data", spec(64, 64))
    for i in range(count):
        x = b.add(operator, {}, [x], f"node{i}", extra)
    return trained(b, x)


@pytest.mark.parametrize("residual", [False, True])
def test_norm_and_relu_are_computed_again(residual):
    graph = conv_net(residual=residual)
    rewritten = verify(mirror.run(graph, target(**MIRROR)), "mirror")
    again = copies(rewritten)
    assert again and not any(name.startswith("conv") for name in again)
    assert "relu0" in again and "norm0" in again
    assert size(rewritten) <= (1.0 if residual else 0.7) * size(graph)


def test_stages_keep_some_of_the_sums_of_residual_nets():
    graph = conv_net(blocks=12, residual=True)
    assert size(mirror.run(graph, target(**OPT))) <= 0.8 * size(graph)


@pytest.mark.parametrize(("settings", "share"), [(MIRROR, 0.6), (OPT, 0.5)])
def test_resnet_50_needs_much_less(settings, share):
    graph = resnet50(32, train=True)
    learnt = ("weight", "bias", "gamma", "beta")
    wanted = [n for n in graph.variables() if graph.nodes[n].name.startswith(learnt)]
    training = gradient(graph, wanted, has_head_grad=[False])
    rewritten = mirror.run(training, target(**settings))
    assert size(rewritten) <= share * size(training)
    assert size(fuse.run(rewritten, target())) <= size(rewritten)


def test_mirroring_is_off_by_default():
    graph = conv_net()
    assert mirror.run(graph, target()) is graph


def test_results_are_the_same_bits_and_statistics_move_once():
    graph = conv_net(blocks=3)
    rewritten = mirror.run(graph, target(**MIRROR))
    assert copies(rewritten)
    values = values_for(graph)
    (wanted, states), (actual, moved) = evaluate(graph, values), evaluate(rewritten, values)
    for got, want in zip(actual, wanted, strict=True):
        np.testing.assert_array_equal(got, want)
    assert states.keys() == moved.keys()
    for name, want in states.items():
        np.testing.assert_array_equal(moved[name], want)


def test_recomputing_relu_after_dense_layers_gains_nothing():
    """The dense layer's output would have to be kept instead."""
    b = Builder(train=True)
    x = b.variable("data", spec(64, 32))
    for i in range(8):
        weights = [b.variable(f"w{i}", spec(32, 32)), b.variable(f"b{i}", spec(32))]
        x = b.add("FullyConnected", {"num_hidden": 32}, [x, *weights])
        x = b.add("Activation", {"act_type": "relu"}, [x])
    graph = trained(b, x)
    assert mirror.run(graph, target(**MIRROR)) is graph


@pytest.mark.parametrize("seed", range(20))
def test_plans_never_grow(seed):
    rng = random.Random(seed)
    graph = random_graph(rng, 20)
    graph = gradient(graph, graph.variables(), has_head_grad=[False] * len(graph.outputs))
    plain = size(graph)
    mirrored = mirror.run(graph, target(**MIRROR))
    everything = mirror.run(graph, target(**OPT))
    assert size(everything) <= size(mirrored) <= plain
    values = values_for(graph)
    for rewritten in (mirrored, everything):
        verify(rewritten, "mirror")
        for got, want in zip(
            evaluate(rewritten, values)[0], evaluate(graph, values)[0], strict=True
        ):
            np.testing.assert_array_equal(got, want)


def test_forced_nodes_are_computed_again_without_a_setting():
    again = copies(mirror.run(conv_net(extra={"__force_mirroring__": "True"}), target()))
    assert "conv1" in again and "relu1" in again


@pytest.mark.parametrize("attribute", ["__force_mirroring__", "__mirror_stage__"])
def test_nodes_can_be_kept(attribute):
    text = "False" if attribute == "__force_mirroring__" else "True"
    graph = conv_net(extra={attribute: text})
    assert mirror.run(graph, target(**MIRROR)) is graph


def test_random_nodes_are_never_computed_again():
    b = Builder(train=True)
    x = b.variable("data", spec(8, 8))
    forced = {"__force_mirroring__": "True"}
    y = b.add("Dropout", {"p": 0.5}, [b.add("exp", {}, [x], "exp", forced)], "drop", forced)
    graph = trained(b, b.add("square", {}, [y]))
    for settings in ({}, MIRROR, OPT):
        assert "drop" not in copies(mirror.run(graph, target(**settings)))


def test_readers_of_written_variables_are_never_computed_again():
    b = Builder(train=True)
    forced = {"__force_mirroring__": "True"}
    x, running = b.variable("x", spec(4, 3)), b.variable("moving_avg", spec(3))
    y = b.add("broadcast_mul", {}, [x, running], "scaled", forced)
    y = b.add("IdentityAttachKLSparseReg", {}, [b.add("sigmoid", {}, [y]), running])
    graph = trained(b, b.add("square", {}, [y]))
    assert copies(mirror.run(graph, target())) == []


def test_prediction_graphs_stay():
    b = Builder()
    graph = b.finish([b.add("exp", {}, [b.variable("x", spec(3))])])
    assert mirror.run(graph, target(**MIRROR, **OPT)) is graph


def test_memory_of_staged_chains_grows_with_the_root():
    """A long chain of cheap operators keeps about sqrt(n) values."""
    actual = {n: size(mirror.run(chain(n), target(**OPT))) for n in (16, 64, 256)}
    assert size(chain(64)) >= 3 * actual[64]
    slope = math.log(actual[256] / actual[16]) / math.log(256 / 16)
    assert 0.4 <= slope <= 0.6


def test_stages_end_where_one_value_crosses():
    graph = conv_net(blocks=8, residual=True)
    one = graph.specs[0][0].nbytes
    for number in borders(graph, 3 * one):
        assert graph.nodes[number].name.startswith(("sum", "relu"))


def test_stages_that_save_nothing_are_not_taken():
    graph = chain(4)
    assert not any(best_stages(graph, [True] * graph.forward, cost=sum))
