"""Residual sums in blocked training graphs are fused with the normalisation before them."""

import numpy as np
import pytest

from mxcy.graph.evaluate import evaluate
from mxcy.graph.passes import norm_sums, training_layout
from mxcy.graph.verify import verify
from tests.graph.graphs import values_for
from tests.graph.test_training_layout import Net, target


def block(net, x, downsample=False):
    """A residual block of 8 channels that ends with relu of a sum."""
    F = net.F
    y = F.relu(net.norm(net.conv(x, 8, 8, pad=(1, 1)), 8))
    y = net.norm(net.conv(y, 8, 8, (1, 1)), 8)
    shortcut = net.norm(net.conv(x, 8, 8, (1, 1)), 8) if downsample else x
    return F.Activation(y + shortcut, act_type="relu")


def stem(net):
    x = net.conv(net.variable(2, 3, 9, 9), 3, 8, pad=(1, 1))
    return net.F.Activation(net.norm(x, 8), act_type="relu")


def fused(graph, **settings):
    about = target(**settings)
    return verify(norm_sums.run(training_layout.run(graph, about), about), "norm_sums")


def counts(graph):
    ops = graph.count_ops()
    names = ("_blocked_norm_sum", "_blocked_norm_sum_grad", "_activation_grad", "elemwise_add")
    return [ops.get(name, 0) for name in names]


@pytest.mark.parametrize(
    ("downsample", "sums"),
    [((False,), [1, 1, 0, 1]), ((False, False), [2, 2, 0, 1]), ((True, False), [2, 2, 0, 1])],
)
def test_sums_and_gradients_are_fused(downsample, sums):
    net = Net()
    x = stem(net)
    for flag in downsample:
        x = block(net, x, flag)
    graph = net.training(net.F.square(x))
    new = fused(graph)
    assert counts(new) == sums
    values = values_for(graph)
    for one, other in zip(evaluate(graph, values)[0], evaluate(new, values)[0], strict=True):
        np.testing.assert_allclose(other, one, rtol=2e-4, atol=2e-4)


def test_a_sum_with_other_readers_stays():
    net = Net()
    x = stem(net)
    y = net.norm(net.conv(x, 8, 8, (1, 1)), 8)
    total = y + x
    graph = net.training(net.F.relu(total), net.F.square(total))
    assert counts(fused(graph))[0] == 0


def test_a_normalisation_with_other_readers_stays():
    net = Net()
    x = stem(net)
    y = net.norm(net.conv(x, 8, 8, (1, 1)), 8)
    graph = net.training(net.F.relu(y + x), net.F.square(y))
    assert counts(fused(graph))[0] == 0


def test_other_activations_stay():
    net = Net()
    x = stem(net)
    y = net.norm(net.conv(x, 8, 8, (1, 1)), 8)
    graph = net.training(net.F.Activation(y + x, act_type="tanh"))
    assert counts(fused(graph))[:2] == [0, 0]


@pytest.mark.parametrize("how", [{"MXNET_USE_FUSION": False}, {"missing": ("blocked_norm_sum",)}])
def test_nothing_is_fused_when_switched_off_or_without_the_kernel(how):
    net = Net()
    graph = net.training(block(net, stem(net)))
    assert counts(fused(graph, **how))[:2] == [0, 0]
