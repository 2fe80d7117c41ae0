"""Padding of channels to whole blocks around depthwise convolutions."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.gluon import nn
from mxcy.graph.builder import Builder
from mxcy.graph.evaluate import evaluate
from mxcy.graph.passes import channels
from mxcy.graph.target import Target
from mxcy.graph.verify import verify
from mxcy.ops.core.record import find
from tests.graph.graphs import Library, spec, values_for

BLOCK = 8
CONV = find("_sg_onednn_conv")


def target(block=BLOCK):
    return Target(Library.has_kernel, Library.query, None, block, {}, {})


class Net:
    """A growing graph of fused layers; parameters are created as needed."""

    def __init__(self):
        self.builder, self.count = Builder(), 0
        self.F = self.builder.values

    def variable(self, *shape, dtype="float32"):
        self.count += 1
        name = f"v{self.count}"
        return self.builder.value(self.builder.variable(name, spec(*shape, dtype=dtype)))

    def conv(self, x, filters, kernel=1, group=1, bias=True, other=None, act="none", **attrs):
        inputs = [x, self.variable(filters, x.shape[1] // group, kernel, kernel)]
        inputs += [self.variable(filters)] if bias else []
        inputs += [] if other is None else [other]
        return self.F._sg_onednn_conv(
            *inputs,
            kernel=(kernel, kernel),
            num_filter=filters,
            num_group=group,
            pad=(kernel // 2,) * 2,
            no_bias=not bias,
            with_sum=other is not None,
            act=act,
            **attrs,
        )

    def check(self, *outputs, filled):
        """Check that the pass keeps results; returns the channels of all 4-d arrays afterwards."""
        graph = verify(self.builder.finish([value.entry for value in outputs]))
        after = channels.run(graph, target())
        assert (after is not graph) == filled
        verify(after)
        values = values_for(graph)
        results = evaluate(after, values)[0], evaluate(graph, values)[0]
        for actual, expected in zip(*results, strict=True):
            assert actual.shape == expected.shape
            np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-5)
        return {
            specs[0].shape[1]
            for node, specs in zip(after.nodes, after.specs, strict=True)
            if node.op is not None and node.op.name != "_npi_pad" and len(specs[0].shape) == 4
        }


@pytest.mark.parametrize("act", ["relu", "sigmoid", "softrelu"])
@pytest.mark.parametrize("bias", [False, True])
def test_channels_between_two_layers_are_filled(act, bias):
    net = Net()
    x = net.conv(net.variable(2, 3, 5, 6), 14, bias=bias, act=act)
    x = net.conv(x, 14, 3, group=14, bias=bias, stride=(2, 2))
    assert net.check(net.conv(x, 5, bias=bias), filled=True) == {16, 5}


def test_squeeze_excitation_is_padded():
    net = Net()
    F = net.F
    x = net.conv(net.variable(1, 4, 6, 6), 20)
    x = net.conv(x * F.hard_sigmoid(x, alpha=1 / 6, beta=0.5), 20, 3, group=20, act="relu")
    small = net.conv(F.Pooling(x, global_pool=True, pool_type="avg"), 6, act="relu")
    x = F.broadcast_mul(x, F.sigmoid(net.conv(small, 20)))
    assert net.check(net.conv(x, 4), filled=True) == {24, 6, 4}


def test_sums_of_such_channels_are_filled():
    net = Net()
    first = net.conv(net.variable(1, 4, 4, 4), 7)
    x = net.conv(first, 7, 3, group=7, other=first, act="leaky", alpha=0.5)
    assert net.check(net.conv(x, 7), net.conv(x, 3), filled=True) == {8, 7, 3}


def test_a_layer_between_such_channels_fills_what_it_reads_and_makes():
    net = Net()
    x = net.conv(net.variable(1, 4, 4, 4), 7)
    x = net.conv(net.conv(x, 7, 3, group=7, act="relu"), 7)
    x = net.conv(x, 7, 3, group=7)
    assert net.check(net.conv(x, 3), filled=True) == {8, 3}


def test_other_readers_prevent_padding():
    def depthwise(channels=7, data=4, **attrs):
        net = Net()
        x = net.conv(net.variable(1, data, 4, 4), channels, **attrs)
        return net, net.conv(x, channels, 3, group=channels)

    net, x = depthwise()
    net.check(x, filled=False)  # an output
    net, x = depthwise()
    net.check(net.F.softmax(x, axis=1), net.conv(x, 4), filled=False)
    net, x = depthwise(channels=17)  # a third more
    net.check(net.conv(x, 4), filled=False)
    net, x = depthwise(channels=16)
    net.check(net.conv(x, 4), filled=False)
    net = Net()
    x = net.conv(net.variable(1, 7, 4, 4), 7, 3, group=7)  # data from outside
    net.check(net.conv(x, 4), filled=False)
    net, x = depthwise()
    net.check(net.conv(net.F.log(x), 4), filled=False)  # zeros would not cancel -inf
    net, x = depthwise(act="sigmoid")
    pooled = net.F.Pooling(net.F.exp(x), kernel=(2, 2), pool_type="avg")
    net.check(net.conv(pooled, 4), filled=False)


def test_narrow_images_between_pointwise_layers_are_filled():
    net = Net()
    first = net.conv(net.variable(1, 16, 4, 4), 6)  # a third more
    wide = net.conv(net.conv(first, 16, act="relu"), 16, 3, group=16, act="relu")
    x = net.conv(wide, 6, other=first)
    assert net.check(net.conv(x, 16), filled=True) == {8, 16}


def test_layers_know_the_number_of_added_channels():
    net = Net()
    first = net.conv(net.variable(1, 16, 4, 4), 7)
    wide = net.conv(net.conv(first, 14, act="relu"), 14, 3, group=14)
    graph = verify(net.builder.finish([net.conv(wide, 16).entry]))
    convs = [node.attrs for node in channels.run(graph, target()).nodes if node.op is CONV]
    spares = [(a.num_filter, a.spare_channels, a.spare_filters) for a in convs]
    assert spares == [(8, 0, 1), (16, 1, 2), (16, 0, 0), (16, 2, 0)]


@pytest.mark.parametrize("channels", [20, 24, 28, 36, 40, 56, 72, 120])
def test_networks_with_added_channels(channels):
    def bottleneck(narrow, wide):
        layers = nn.HybridSequential()
        for filters, groups, kernel in ((wide, 1, 1), (wide, wide, 3), (narrow, 1, 1)):
            layers.add(nn.Conv2D(filters, kernel, padding=kernel // 2, groups=groups))
            layers.add(nn.BatchNorm(), nn.Activation("relu"))
        return layers

    net = nn.HybridSequential()
    net.add(nn.Conv2D(channels, 1), bottleneck(channels, 64), bottleneck(16, channels))
    net.initialize(mx.init.Xavier())
    data = mx.nd.random.normal(shape=(2, 3, 15, 14))
    expected = net(data).asnumpy()
    net.hybridize(static_alloc=True, static_shape=True)
    np.testing.assert_allclose(net(data).asnumpy(), expected, rtol=1e-4, atol=1e-5)


def test_pixels_are_read_elsewhere_without_added_channels():
    net = Net()
    x = net.conv(net.variable(2, 16, 4, 4), 7, act="relu")
    x = net.F.Pooling(x, global_pool=True, pool_type="avg")
    outputs = (net.F.Flatten(x), net.F.softmax(x, axis=1), net.conv(net.F.tanh(x), 16))
    assert net.check(x, *outputs, filled=True) == {7, 8, 16}
    net = Net()
    x = net.conv(net.variable(2, 16, 4, 4), 7, act="relu")
    net.check(net.F.Flatten(x), filled=False)  # images


def test_narrow_images_of_other_layers_are_not_filled():
    def narrow(channels=6, size=4, before=1, after=1):
        net = Net()
        x = net.conv(net.variable(1, 16, size, size), channels, before)
        net.check(net.conv(x, 16, after), filled=False)

    narrow(channels=5)
    narrow(size=1)
    narrow(before=3)
    narrow(after=3)


def test_nothing_is_filled_without_blocks():
    net = Net()
    x = net.conv(net.conv(net.variable(1, 4, 4, 4), 7), 7, 3, group=7)
    graph = net.builder.finish([net.conv(x, 4).entry])
    assert channels.run(graph, target(0)) is graph


class _Excited(mx.gluon.HybridBlock):
    """Expansion, depthwise convolution, channel weights, projection."""

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.wide = nn.HybridSequential()
            self.wide.add(nn.Conv2D(72, 1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"))
            self.wide.add(nn.Conv2D(72, 5, 2, 2, groups=72, use_bias=False), nn.BatchNorm())
            self.small = nn.HybridSequential()
            self.small.add(nn.GlobalAvgPool2D(), nn.Conv2D(24, 1, activation="relu"))
            self.small.add(nn.Conv2D(72, 1))
            self.narrow = nn.Conv2D(40, 1)

    def hybrid_forward(self, F, x):
        x = self.wide(x)
        x = F.broadcast_mul(x, F.hard_sigmoid(self.small(x)))
        return self.narrow(x * F.sigmoid(x))


@pytest.mark.parametrize("batch", [1, 3])
def test_planned_networks_give_the_same(batch):
    mx.random.seed(3)
    net = _Excited()
    net.initialize(mx.init.Xavier())
    x = mx.nd.random.uniform(-1, 1, (batch, 24, 13, 13))
    expected = net(x).asnumpy()
    net.hybridize(static_alloc=True, static_shape=True)
    for _ in range(2):
        np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-4, atol=1e-5)
    net.narrow.weight.set_data(net.narrow.weight.data() * 2)
    net.narrow.bias.set_data(net.narrow.bias.data() * 2)
    np.testing.assert_allclose(net(x).asnumpy(), 2 * expected, rtol=1e-4, atol=1e-5)
