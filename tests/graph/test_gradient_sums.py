"""Data gradients of blocked convolutions are added to other gradients while they are computed."""

import numpy as np
import pytest

from mxcy.graph.evaluate import evaluate
from mxcy.graph.passes import gradient_sums, norm_sums, training_layout
from mxcy.graph.verify import verify
from tests.graph.graphs import values_for
from tests.graph.test_norm_sums import block, stem
from tests.graph.test_training_layout import Net, target


def fused(graph, **settings):
    about = target(**settings)
    graph = training_layout.run(graph, about)
    return verify(gradient_sums.run(graph, about), "gradient_sums")


def sums(graph):
    return sum(getattr(node.attrs, "with_sum", False) for node in graph.nodes if node.op)


@pytest.mark.parametrize("downsample", [(False, False), (True, False)])
def test_gradients_of_forks_are_added(downsample):
    net = Net()
    x = stem(net)
    for flag in downsample:
        x = block(net, x, flag)
    graph = net.training(net.F.square(x))
    new = fused(graph)
    assert sums(new) == 2 and "elemwise_add" not in new.count_ops()
    whole = norm_sums.run(new, target())
    assert whole.count_ops()["_blocked_norm_sum_grad"] == 2
    values = values_for(graph)
    before = evaluate(graph, values)[0]
    for after in (evaluate(new, values)[0], evaluate(whole, values)[0]):
        for one, other in zip(before, after, strict=True):
            np.testing.assert_allclose(other, one, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("later", [False, True])
def test_gradients_that_others_read_later_are_not_overwritten(later):
    net = Net()
    other = net.variable(*(2, 8, 9, 9))
    if later:  # the first layer's gradient is computed last
        other = net.conv(other, 8, 8, (1, 1))
    x = stem(net)
    y = net.conv(x, 8, 8, (1, 1))
    graph = net.training(net.F.relu(net.norm(y, 8)) * (x + other))
    assert sums(fused(graph)) == (0 if later else 1)


def test_nothing_is_fused_when_switched_off():
    net = Net()
    graph = net.training(block(net, stem(net)))
    assert sums(fused(graph, MXNET_USE_FUSION=False)) == 0
