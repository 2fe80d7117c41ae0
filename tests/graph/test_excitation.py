"""Squeeze-and-excitation in inference graphs becomes one operator."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.gluon import nn
from tests.graph.test_layers import Net

NAME = "_blocked_excitation"


def gated(net, x, hidden=8, hard=False, swapped=False, pool=None, bias=True, kernel=1):
    """A block's product, its gates, and its means."""
    F, channels = net.builder.values, x.shape[1]
    pool = pool or {"kernel": (1, 1), "global_pool": True}
    means = F.Pooling(x, pool_type="avg", **pool)
    y = F.relu(net.conv(means, hidden, 1, bias=bias))
    y = net.conv(y, channels, kernel, bias=True)
    gates = F.hard_sigmoid(y, alpha=0.3, beta=0.4) if hard else F.sigmoid(y)
    operands = (gates, x) if swapped else (x, gates)
    return F.broadcast_mul(*operands), gates, means


@pytest.mark.parametrize("hidden", [3, 16, 40])
@pytest.mark.parametrize("channels", [64, 72])
@pytest.mark.parametrize("hard", [False, True])
def test_blocks_between_layers(channels, hidden, hard):
    net = Net((2, 16, 7, 6))
    x = net.conv(net.conv(net.data, channels, 1), channels, group=channels)
    x, _, _ = gated(net, x, hidden, hard, swapped=hard)
    ops = net.check(net.conv(x, 16, 1))
    assert ops[NAME] == 1 and ops["_sg_onednn_conv"] == 3
    assert not {"_blocked_pooling", "broadcast_mul", "hard_sigmoid"} & ops.keys()


def test_windows_of_whole_images_are_means():
    net = Net((1, 16, 6, 5))
    x, _, _ = gated(net, net.conv(net.data, 32), pool={"kernel": (6, 5)})
    assert net.check(net.conv(x, 16))[NAME] == 1


def test_portions_of_a_batch_share_weights():
    net = Net((8, 16, 160, 160))
    x, _, _ = gated(net, net.conv(net.data, 32, 1))
    planned = net.planned(net.conv(x, 16, 1))
    blocks = [node.inputs[1:] for node in planned.graph.nodes if node.op and node.op.name == NAME]
    assert len(blocks) > 1 and len(set(blocks)) == 1


@pytest.mark.parametrize(
    "attrs",
    [
        {"pool": {"kernel": (3, 3), "stride": (3, 3)}},
        {"pool": {"kernel": (8, 8), "pad": (1, 1), "stride": (3, 3)}},
        {"bias": False},
        {"kernel": 3},
    ],
)
def test_other_graphs_stay(attrs):
    net = Net((1, 16, 6, 6))
    if "pool" in attrs and attrs["pool"]["kernel"] == (3, 3):
        net = Net((1, 16, 5, 5))
    x, _, _ = gated(net, net.conv(net.data, 16), **attrs)
    assert NAME not in net.check(net.conv(x, 16))


@pytest.mark.parametrize("which", [1, 2])
def test_results_that_others_read_are_computed(which):
    net = Net((1, 16, 6, 6))
    results = gated(net, net.conv(net.data, 32))
    assert NAME not in net.check(net.conv(results[0], 16), net.builder.values.tanh(results[which]))


def test_parameters_may_change():
    class Block(nn.HybridBlock):
        def __init__(self):
            super().__init__()
            self.before, self.squeeze = nn.Conv2D(32, 3, in_channels=16), nn.Conv2D(4, 1)
            self.excite = nn.Conv2D(32, 1)

        def hybrid_forward(self, F, x):
            x = self.before(x)
            means = F.Pooling(x, global_pool=True, kernel=(1, 1), pool_type="avg")
            y = F.relu(self.squeeze(means))
            return F.broadcast_mul(x, F.sigmoid(self.excite(y)))

    net, x = Block(), mx.nd.random.uniform(shape=(2, 16, 8, 8))
    net.initialize(mx.init.Uniform(0.5))
    net.hybridize(static_alloc=True, static_shape=True)
    net(x)
    net.excite.bias.set_data(mx.nd.array(np.linspace(-3, 3, 32)))
    net.squeeze.weight.set_data(net.squeeze.weight.data() * 2)
    after = net(x).asnumpy()
    net.hybridize(False)
    np.testing.assert_allclose(after, net(x).asnumpy(), rtol=1e-4, atol=1e-5)
