"""Mixing the channels of arrays between linear layers before quantization."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.contrib.quantization import quantize_net
from mxcy.gluon import nn
from mxcy.graph.node import topological
from mxcy.quantization.adjust import Preparation
from mxcy.quantization.equalise import shared_channels
from mxcy.quantization.layers import layers_of
from mxcy.quantization.mix import _evened
from mxcy.quantization.symbols import quantize_symbol


class Bottlenecks(nn.HybridBlock):
    """Inverted residual blocks: sums without activation, whose channels are nearly equal."""

    def __init__(self, norm):
        super().__init__()
        self.first = nn.HybridSequential()
        self.first.add(nn.Conv2D(16, 3, padding=1, activation="relu"), *self.narrow(norm))
        self.block = nn.HybridSequential()
        self.block.add(nn.Conv2D(24, 3, padding=1, activation="relu"), *self.narrow(norm))
        self.last = nn.Dense(5)

    @staticmethod
    def narrow(norm):
        conv = nn.Conv2D(8, 1)
        return (conv, nn.BatchNorm()) if norm else (conv,)

    def hybrid_forward(self, F, x):
        x = self.first(x)
        return self.last(x + self.block(x))


def network(norm):
    mx.random.seed(3)
    rng = np.random.default_rng(3)
    net = Bottlenecks(norm)
    net.initialize(mx.init.Xavier())
    net(mx.nd.zeros((1, 3, 6, 6)))
    for parameter in net.collect_params().values():
        if parameter.name.endswith(("gamma", "beta", "running_mean", "running_var")):
            parameter.set_data(mx.nd.array(rng.uniform(0.5, 1.5, size=parameter.shape)))
    # the narrow arrays are one common component and small differences; the readers ignore the first
    for conv in (net.first[1], net.block[1]):
        weight = conv.weight.data().asnumpy()
        common = rng.uniform(0, 1, size=weight[:1].shape)
        if norm:
            gamma = net.first[2].gamma if conv is net.first[1] else net.block[2].gamma
            gamma.set_data(mx.nd.ones(8))
        conv.weight.set_data(mx.nd.array(common + 0.02 * weight))
    for layer in (net.block[0], net.last):
        weight = layer.weight.data().asnumpy()
        taps = weight.reshape(len(weight), 8, -1)
        taps -= taps.mean(axis=1, keepdims=True)
        layer.weight.set_data(mx.nd.array(taps.reshape(weight.shape)))
    return net


@pytest.fixture(scope="module")
def images():
    return mx.nd.array(np.random.default_rng(5).normal(size=(48, 3, 6, 6)))


def fused(net):
    sym = net(mx.sym.var("data")).get_backend_symbol("MKLDNN_QUANTIZE")
    return sym, {name: p.data() for name, p in net.collect_params().items()}


def run(sym, values, data):
    executor = sym.simple_bind(mx.cpu(), grad_req="null", data=data.shape)
    executor.copy_params_from(values, values, allow_extra_params=True)
    return executor.forward(is_train=False, data=data)[0].asnumpy()


@pytest.mark.parametrize("norm", [False, True])
def test_mixed_floats_compute_the_same(norm, images):
    sym, values = fused(network(norm))
    qsym, _ = quantize_symbol(sym, offline_params=[*values], quantize_mode="full")
    names = {node.name for node in topological(sym._entries)}
    groups = shared_channels(sym, layers_of(sym, names, dict(values)))
    assert sorted(len(group.writers) for group in groups if group.linear) == [2]
    scaled = Preparation(sym, qsym, values, [{"data": images}], mx.cpu()).floats
    expected = run(sym, values, images)
    np.testing.assert_allclose(
        run(sym, scaled, images), expected, atol=2e-4 * np.abs(expected).max()
    )


@pytest.mark.parametrize("norm", [False, True])
def test_small_differences_of_channels_survive(norm, images):
    net = network(norm)
    expected = net(images).asnumpy()
    errors = []
    for adjusts in (False, True):
        data = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(images), 8)
        narrow = quantize_net(net, calib_data=data, calib_mode="naive", adjust_parameters=adjusts)
        errors.append(np.sqrt(np.mean((narrow(images).asnumpy() - expected) ** 2)))
    assert errors[1] < 0.25 * errors[0]


def test_rows_become_equally_wide():
    scales = np.exp(np.random.default_rng(1).normal(size=12))
    scales /= np.sqrt(np.mean(scales**2))
    turned = _evened(scales, 0)
    np.testing.assert_allclose(turned @ turned.T, np.eye(12), atol=1e-9)
    np.testing.assert_allclose(((turned * scales) ** 2).sum(axis=1), 1, atol=1e-6)
