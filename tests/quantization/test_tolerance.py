"""Layers left float for a tolerance, channel offsets, and unrounded results."""

import json

import numpy as np
import pytest

import mxcy as mx
from mxcy.contrib.quantization import quantize_net
from mxcy.graph.node import topological
from mxcy.quantization.centre import centre
from mxcy.quantization.layers import layers_of
from mxcy.quantization.symbols import quantize_symbol
from mxcy.quantization.tolerance import relative_error
from tests.quantization.test_adjust import fused, images, loader, network, run

__all__ = ["images", "network"]


def quantized(network, images, **wishes):
    return quantize_net(
        network, calib_data=loader(images), calib_mode="naive", quantize_mode="smart", **wishes
    )


def layers_of_8_bits(block, data):
    """The number of int8 layers."""
    sym = block(mx.sym.var("data"))
    nodes = json.loads(sym.tojson())["nodes"]
    return sum(node["name"].startswith("quantized_sg") for node in nodes)


def test_tolerances_leave_as_many_layers_float_as_they_take(network, images):
    expected = [[network(images).asnumpy()]]
    errors, counts = [], []
    for tolerance in (None, 0.005, 1e-6):
        block = quantized(network, images, tolerance=tolerance)
        errors.append(relative_error([[block(images).asnumpy()]], expected))
        counts.append(layers_of_8_bits(block, images))
    assert errors[0] > 0.005 > errors[1]  # the calibration data are these images
    assert counts[0] > counts[1] > counts[2] == 0
    assert errors[2] < 1e-3
    assert np.array_equal(network(images).asnumpy(), expected[0][0])


def test_wide_tolerances_change_nothing(network, images):
    one, two = (quantized(network, images, tolerance=t)(images) for t in (None, 10.0))
    assert np.array_equal(one.asnumpy(), two.asnumpy())


@pytest.mark.parametrize("wishes", [{"tolerance": -1.0}, {"tolerance": 0.1, "calib_mode": "none"}])
def test_tolerances_that_cannot_be_kept_are_refused(network, images, wishes):
    wishes = {"calib_mode": "naive", **wishes}
    with pytest.raises(ValueError, match="tolerance: expected a number >= 0"):
        quantize_net(network, calib_data=loader(images), **wishes)


def test_errors_are_those_of_the_worst_float_result():
    floats = [np.arange(4.0), np.arange(4.0) * 3]
    numbers = np.arange(4)
    actual = [[floats[0] + 0.1], [floats[1] + 0.1], [numbers + 1]]
    error = relative_error(actual, [[floats[0]], [floats[1]], [numbers]])
    assert error == pytest.approx(0.1 / np.std(np.arange(4.0)))
    assert relative_error([[np.full(3, 2.5)]], [[np.full(3, 2.0)]]) == 0.5  # they are all alike


def ends(array):
    """The minimum and maximum of each channel."""
    axes = tuple(i for i in range(array.ndim) if i != 1)
    return array.min(axis=axes), array.max(axis=axes)


def test_offsets_of_channels_do_not_change_results(network, images):
    sym, values = fused(network)
    expected = run(sym, values, images)
    qsym, _ = quantize_symbol(sym, None, None, None, list(values), "auto", "smart")
    names = {n.name.removeprefix("quantized_") for n in qsym.get_internals()}
    changed = dict(values)
    layers = layers_of(sym, names, changed)
    inner = sym.get_internals()
    extremes = {}
    for layer in layers.values():
        extremes[layer.name] = ends(run(inner[layer.name], values, images))
    before = dict(extremes)
    centre(sym, layers, extremes)
    moved = [name for name in extremes if not np.array_equal(extremes[name][0], before[name][0])]
    # the first of the two sums; relu6 and pooling read others
    linear = [layer.name for layer in layers.values() if layer.act == "none"]
    assert moved == linear[:1]
    low, high = ends(run(inner[moved[0]], changed, images))
    np.testing.assert_allclose(low, -high, atol=1e-4 * high.max())
    np.testing.assert_allclose(run(sym, changed, images), expected, atol=1e-5)


def test_paddings_keep_offsets_out(images):
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Conv2D(4, 1, in_channels=3), mx.gluon.nn.Conv2D(2, 3, padding=1))
    net.initialize()
    net(images)
    sym, values = fused(net)
    names = {node.name for node in topological(sym._entries)}
    layers = layers_of(sym, names, values)
    first, _ = layers.values()
    extremes = {first.name: (np.full(4, 1.0), np.full(4, 3.0))}
    centre(sym, layers, extremes)
    assert extremes[first.name][0][0] == 1.0


def test_results_of_last_convolutions_are_not_rounded(images):
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Conv2D(8, 1, in_channels=3), mx.gluon.nn.Conv2D(5, 1, in_channels=8))
    net.initialize(mx.init.Xavier())
    for adjusts in (False, True):
        block = quantized(net, images, adjust_parameters=adjusts)
        count = len(np.unique(block(images).asnumpy()))
        assert (count > 1000) == adjusts  # of 8 bits there are 256
