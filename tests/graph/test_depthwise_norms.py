"""Depthwise convolutions in training graphs fuse the normalisation before them."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.graph.builder import Builder
from mxcy.graph.passes import depthwise, norms
from mxcy.graph.verify import verify
from tests.graph.graphs import spec


def convolved(channels=4, act="relu", **attrs):
    """A builder, and the depthwise convolution of a normalised variable."""
    b = Builder(True)
    x = b.value(b.variable("x", spec(2, channels, 9, 8)))
    states = [b.value(b.variable(n, spec(channels))) for n in ("gamma", "beta", "mean", "var")]
    y = b.values.BatchNorm(x, *states, fix_gamma=False)
    y = b.values.relu(y) if act == "relu" else b.values.clip(y, a_min=0, a_max=6)
    window = {"kernel": (3, 3), "pad": (1, 1), "num_filter": channels, "num_group": channels}
    window |= {"no_bias": True, **attrs}
    inner = channels // window["num_group"]
    weight = b.value(b.variable("weight", spec(window["num_filter"], inner, *window["kernel"])))
    bias = [] if window["no_bias"] else [b.value(b.variable("bias", spec(channels)))]
    return b, y, b.values.Convolution(y, weight, *bias, **window)


def fused(builder, *outputs, wrt=("beta",), has_kernel=lambda name, dtype: True):
    graph = norms.run(builder.finish([output.entry for output in outputs]))
    return verify(depthwise.run(graph, wrt, has_kernel), "depthwise").count_ops()


@pytest.mark.parametrize("act", ["relu", "relu6"])
def test_the_only_reader_is_fused(act):
    b, _, out = convolved(act=act)
    assert fused(b, out) == {"_norm_depthwise": 1}


@pytest.mark.parametrize(
    "attrs",
    [
        {"num_group": 2},
        {"num_filter": 8},
        {"no_bias": False},
        {"kernel": (1, 1), "pad": (0, 0)},
        {"kernel": (3, 5)},
        {"stride": (2, 1)},
        {"dilate": (2, 2)},
        {"pad": (3, 3)},
    ],
)
def test_other_convolutions_are_left_alone(attrs):
    b, _, out = convolved(**attrs)
    assert fused(b, out) == {"_batch_norm_relu": 1, "Convolution": 1}


def test_a_normalisation_without_a_backward_pass_stays():
    b, _, out = convolved()
    assert fused(b, out, wrt=["weight"]) == {"_batch_norm_relu": 1, "Convolution": 1}


def test_other_readers_and_devices_without_the_kernel_keep_the_array():
    b, y, out = convolved()
    assert "_norm_depthwise" not in fused(b, out, y)
    b, _, out = convolved()
    assert "_norm_depthwise" not in fused(b, out, has_kernel=lambda name, dtype: False)


def network(act, kernel, stride):
    nn = mx.gluon.nn
    net = nn.HybridSequential()
    net.add(nn.Conv2D(6, 1, in_channels=3, use_bias=False), nn.BatchNorm(in_channels=6))
    net.add(nn.HybridLambda(lambda F, x: F.relu(x) if act == "relu" else F.clip(x, 0, 6)))
    window = {"kernel_size": kernel, "strides": stride, "padding": kernel // 2}
    net.add(nn.Conv2D(6, groups=6, in_channels=6, use_bias=False, **window))
    net.add(nn.BatchNorm(in_channels=6), nn.Dense(2, in_units=6 * (-(-13 // stride)) ** 2))
    return net


@pytest.mark.parametrize("frozen", [(), (0,), (0, 1)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", [("relu", 3, 1), ("relu6", 3, 2), ("relu", 5, 2), ("relu6", 5, 1)])
def test_networks_learn_the_same(case, dtype, frozen, monkeypatch):
    """Bit for bit, with and without a gradient of the data."""
    learned = []
    for fusion in (False, True):
        if not fusion:
            monkeypatch.setattr(depthwise, "run", lambda graph, *others: graph)
        mx.random.seed(3)
        net = network(*case)
        net.initialize(mx.init.Xavier(magnitude=6))
        net.cast(dtype)
        for layer in frozen:
            net[layer].collect_params().setattr("grad_req", "null")
        net.hybridize()
        trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
        images = mx.nd.array(np.random.RandomState(1).standard_normal((5, 3, 13, 13)), dtype=dtype)
        for _ in range(3):
            with mx.autograd.record():
                loss = (net(images) ** 2).mean()
            loss.backward()
            trainer.step(1)
        learned.append([p.data().asnumpy() for p in net.collect_params().values()])
        monkeypatch.undo()
    for one, other in zip(*learned, strict=True):
        np.testing.assert_array_equal(one, other)
