"""Blocked arrays between convolutions in training graphs."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import gluon
from mxcy.gluon import nn
from mxcy.graph.builder import Builder
from mxcy.graph.evaluate import evaluate
from mxcy.graph.gradient import gradient
from mxcy.graph.passes import norms, training_layout
from mxcy.graph.target import Target
from mxcy.graph.verify import verify
from tests.graph.graphs import Library, spec, values_for

BLOCK = 8


def target(block=BLOCK, missing=(), **settings):
    """A target without a native library, whose kernels accept everything."""
    given = {"MXNET_SUBGRAPH_BACKEND": "ONEDNN", "MXNET_ENFORCE_DETERMINISM": False, **settings}
    has = lambda name, dtype: name not in missing  # noqa: E731
    return Target(has, Library.query, None, block, given, {})


class Net:
    """A growing graph in training mode; parameters are created as needed."""

    def __init__(self, dtype="float32"):
        self.builder, self.dtype = Builder(True), dtype
        self.F, self.count = self.builder.values, 0

    def variable(self, *shape):
        self.count += 1
        return self.builder.value(
            self.builder.variable(f"v{self.count}", spec(*shape, dtype=self.dtype))
        )

    def conv(self, x, inputs, outputs, kernel=(3, 3), bias=False, groups=1, **attrs):
        parameters = [self.variable(outputs, inputs // groups, *kernel)]
        if bias:
            parameters.append(self.variable(outputs))
        attrs = {"num_filter": outputs, "num_group": groups, "no_bias": not bias, **attrs}
        return self.F.Convolution(x, *parameters, kernel=kernel, **attrs)

    def norm(self, x, channels, **attrs):
        states = [self.variable(channels) for _ in range(4)]
        return self.F.BatchNorm(x, *states, **{"fix_gamma": False, **attrs})

    def training(self, *outputs):
        """The graph with its backward pass, to all variables but running statistics."""
        graph = norms.run(self.builder.finish([output.entry for output in outputs]))
        return gradient(graph, graph.variables(), [False] * len(outputs))


def residual(net):
    F = net.F
    x = net.conv(net.variable(2, 3, 9, 9), 3, 8, stride=(2, 2), pad=(1, 1))
    x = F.relu(net.norm(x, 8))
    y = net.conv(x, 8, 16, (1, 1), bias=True)
    y = net.norm(net.conv(F.relu(net.norm(y, 16)), 16, 8, pad=(1, 1)), 8)
    x = F.relu(x + y)
    x = F.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max")
    return F.Flatten(x)


def inception(net):
    F = net.F
    x = net.conv(net.variable(2, 8, 7, 7), 8, 8, pad=(1, 1))
    parts = [
        F.clip(net.norm(net.conv(x, 8, 8, (1, 1)), 8), a_min=0, a_max=6),
        F.relu(net.norm(net.conv(x, 8, 16, (1, 3), pad=(0, 1)), 16, fix_gamma=True)),
        F.Pooling(x, kernel=(3, 3), pad=(1, 1), pool_type="avg", count_include_pad=False),
    ]
    x = F.Concat(*parts, dim=1, num_args=3)
    return F.Pooling(x, global_pool=True, kernel=(1, 1), pool_type="avg")


@pytest.mark.parametrize("make", [residual, inception])
def test_gradients_stay(make):
    net = Net()
    graph = net.training(net.F.square(make(net)))
    placed = verify(training_layout.run(graph, target()), "training_layout")
    ops = placed.count_ops()
    assert not {"Convolution", "_conv_weight", "BatchNorm", "_batch_norm_relu"} & set(ops), ops
    assert ops.get("_conv_data", 0) == (make is residual)  # to images of three channels
    assert ops["_blocked_conv"] == ops["_blocked_conv_weight"]
    assert ops.get("_to_blocked", 0) <= 3 and ops.get("_from_blocked", 0) <= 3, ops
    values = values_for(graph)
    before, after = evaluate(graph, values)[0], evaluate(placed, values)[0]
    for one, other in zip(before, after, strict=True):
        np.testing.assert_allclose(other, one, rtol=2e-4, atol=2e-4)


def test_nodes_that_are_not_blocked():
    net = Net()
    x = net.conv(net.variable(2, 8, 6, 6), 8, 12)  # not a multiple of the block
    x = net.F.relu(net.conv(x, 12, 8))
    graph = net.training(net.F.square(x))
    placed = verify(training_layout.run(graph, target()), "training_layout")
    ops = placed.count_ops()
    assert ops["Convolution"] == ops["_blocked_conv"] == 1
    values = values_for(graph)
    for one, other in zip(evaluate(graph, values)[0], evaluate(placed, values)[0], strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "how",
    [
        {"block": 0},
        {"missing": ("conv_train_onednn",)},
        {"MXNET_SUBGRAPH_BACKEND": "NONE"},
        {"MXNET_ENFORCE_DETERMINISM": True},
    ],
)
def test_unchanged_without_expected_gain(how):
    net = Net()
    graph = net.training(residual(net))
    assert training_layout.run(graph, target(**how)) is graph


def test_groups_are_left_alone():
    net = Net()
    x = net.conv(net.variable(2, 8, 5, 5), 8, 8, groups=8)
    graph = net.training(net.conv(x, 8, 8, (1, 1)))
    assert training_layout.run(graph, target()) is graph


def test_maps_much_smaller_than_weights_are_left_alone():
    net = Net()
    x = net.conv(net.variable(2, 32, 2, 2), 32, 32, pad=(1, 1))
    graph = net.training(net.conv(net.F.relu(net.norm(x, 32)), 32, 32, pad=(1, 1)))
    assert training_layout.run(graph, target()) is graph


def test_blocks_that_nothing_takes_are_left_alone():
    net = Net()
    x = net.conv(net.variable(2, 8, 9, 9), 8, 8, (1, 1))
    x = net.F.slice(x, begin=(0, 0, 0, 0), end=(2, 8, 4, 4))
    graph = net.training(net.norm(x, 8))
    assert training_layout.run(graph, target()) is graph


def test_double_precision_is_left_alone():
    net = Net("float64")
    graph = net.training(residual(net))
    ops = training_layout.run(graph, target()).count_ops()
    assert "_blocked_conv" not in ops and "Convolution" in ops


class Cell(nn.HybridBlock):
    """A residual block with concatenated branches."""

    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.first = nn.Conv2D(32, 3, padding=1, use_bias=True)
            self.norm = nn.BatchNorm()
            self.second = nn.Conv2D(32, 1, use_bias=False)
            self.other = nn.BatchNorm()

    def hybrid_forward(self, F, x):
        y = F.relu(self.norm(self.first(x)))
        y = F.relu(self.other(self.second(y)) + x)
        return F.concat(y, F.Pooling(y, kernel=(3, 3), pad=(1, 1), stride=(1, 1)), dim=1)


def network():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(32, 3, strides=2), nn.BatchNorm(), nn.Activation("relu"), Cell())
    net.add(nn.MaxPool2D(3, 2), nn.Conv2D(16, (1, 7), padding=(0, 3)), nn.GlobalAvgPool2D())
    net.add(nn.Dense(5))
    return net


def test_training_is_that_of_single_operators():
    losses = []
    for hybrid in (False, True):
        mx.random.seed(3)
        net, loss = network(), gluon.loss.SoftmaxCrossEntropyLoss()
        net.initialize(mx.init.Xavier())
        if hybrid:
            net.hybridize(static_alloc=True, static_shape=True)
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05})
        data, label = mx.nd.random.normal(shape=(4, 3, 33, 33)), mx.nd.array([0, 1, 2, 3])
        row = []
        for _ in range(5):
            with mx.autograd.record():
                value = loss(net(data), label)
            value.backward()
            trainer.step(4)
            row.append(value.asnumpy())
        losses.append(row)
    np.testing.assert_allclose(losses[1], losses[0], rtol=2e-4, atol=2e-5)


def test_outputs_of_the_forward_pass_are_converted_there():
    net = Net()
    x = net.norm(net.conv(net.variable(2, 3, 6, 6), 3, 8), 8)
    graph = net.training(x, net.F.relu(x))
    placed = verify(training_layout.run(graph, target()), "training_layout")
    assert placed.count_ops()["_from_blocked"] >= 2
    assert [number < placed.forward for number, _ in placed.outputs[:2]] == [True, True]
    values = values_for(graph)
    for one, other in zip(evaluate(graph, values)[0], evaluate(placed, values)[0], strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("static", [False, True])
def test_images_are_returned_before_the_backward_pass(static):
    net = nn.HybridSequential()
    net.add(nn.Conv2D(32, 3, use_bias=False), nn.BatchNorm(), Cell())
    net.initialize(mx.init.Xavier())
    data = mx.nd.random.normal(shape=(1, 3, 32, 32))
    with mx.autograd.record():
        expected = net(data).asnumpy()
    net.hybridize(static_alloc=static, static_shape=static)
    for _ in range(2):
        with mx.autograd.record():
            images = net(data)
        np.testing.assert_allclose(images.asnumpy(), expected, rtol=1e-4, atol=1e-4)
        images.backward()


def test_an_executors_images_are_those_of_single_operators():
    symbol = mx.sym.Convolution(
        mx.sym.var("data"), kernel=(3, 3), num_filter=16, no_bias=True, name="conv"
    )
    symbol = mx.sym.BatchNorm(symbol, fix_gamma=False, name="norm")
    executor = symbol.simple_bind(mx.cpu(), data=(1, 3, 32, 32))
    for array in executor.arg_arrays:
        array[:] = mx.nd.random.normal(shape=array.shape)
    data, weight, gamma, beta = executor.arg_arrays
    images = executor.forward(is_train=True)[0].asnumpy()
    with mx.autograd.record():
        x = mx.nd.Convolution(data, weight, kernel=(3, 3), num_filter=16, no_bias=True)
        x = mx.nd.BatchNorm(x, gamma, beta, mx.nd.zeros(16), mx.nd.ones(16), fix_gamma=False)
    np.testing.assert_allclose(images, x.asnumpy(), rtol=1e-4, atol=1e-4)
