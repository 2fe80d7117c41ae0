"""Convolutions with a single window become dense layers in inference."""

import pytest

from mxcy.graph.passes import pixels
from tests.graph.test_layers import Net


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(pixels, "_LEAST", 1000)


def operators(net, *outputs):
    """Check results; returns whether there is a dense layer, and whether a convolution."""
    ops = net.check(*outputs)
    dense = {"FullyConnected", "_sg_onednn_fully_connected"} & ops.keys()
    return bool(dense), bool({"Convolution", "_sg_onednn_conv"} & ops.keys())


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("batch", [1, 8, 20])
def test_classes_of_single_pixels(batch, bias):
    net = Net((batch, 320, 1, 1))
    assert operators(net, net.conv(net.data, 10, 1, bias=bias)) == (True, False)


def test_windows_of_whole_images():
    net = Net((2, 13, 5, 5))
    x = net.builder.values.relu(net.conv(net.data, 10, 5, bias=True, pad=(0, 0)))
    assert operators(net, x) == (True, False)


def test_results_may_have_several_readers():
    net = Net((2, 320, 1, 1))
    F = net.builder.values
    x = net.conv(net.data, 10, 1, bias=True)
    assert operators(net, F.relu(x), F.tanh(x)) == (True, False)


@pytest.mark.parametrize(
    "shape, attrs",
    [
        ((1, 40, 1, 1), {"filters": 10, "kernel": 1}),  # few weights
        ((1, 320, 1, 1), {"filters": 32, "kernel": 1}),  # whole blocks
        ((1, 320, 1, 2), {"filters": 10, "kernel": 1}),
        ((1, 64, 3, 3), {"filters": 10, "kernel": 3}),  # padded
        ((1, 1200, 1, 1), {"filters": 10, "kernel": 1, "group": 2}),
    ],
)
def test_others_stay(shape, attrs):
    net = Net(shape)
    assert operators(net, net.conv(net.data, **attrs)) == (False, True)


def test_normalisations_are_folded_into_convolutions():
    net = Net((1, 320, 1, 1))
    assert operators(net, net.norm(net.conv(net.data, 10, 1))) == (False, True)


@pytest.mark.parametrize("part", ["CONV", "FC"])
def test_it_needs_both_optimizations(part, monkeypatch):
    monkeypatch.setenv(f"MXNET_DISABLE_ONEDNN_{part}_OPT", "1")
    net = Net((1, 320, 1, 1))
    assert operators(net, net.conv(net.data, 10, 1)) == (False, True)
