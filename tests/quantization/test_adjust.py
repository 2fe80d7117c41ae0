"""Adjustment of parameters for int8, with calibration data in the float network."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.contrib.quantization import CalibrationCollector, quantize_net
from mxcy.gluon import nn
from mxcy.graph.node import topological
from mxcy.quantization.adjust import Preparation
from mxcy.quantization.equalise import shared_channels
from mxcy.quantization.layers import layers_of
from mxcy.quantization.noise import expected_noise
from mxcy.quantization.paired_run import QuantizedNodes, run_both
from mxcy.quantization.rounding import compensated, rounded
from mxcy.quantization.symbols import quantize_symbol


class Bottlenecks(nn.HybridBlock):
    """Two residual blocks of pointwise and depthwise layers, whose channels differ in size."""

    def __init__(self):
        super().__init__()
        self.first, self.last = self.layer(3, 12), nn.Dense(10, in_units=12)
        self.blocks = nn.HybridSequential()
        for _ in range(2):
            block = nn.HybridSequential()
            block.add(
                *self.layer(12, 24, 1), *self.layer(24, 24, 3, 24), *self.layer(24, 12, 1)[:2]
            )
            self.blocks.add(block)
        for layer in self.first:
            self.register_child(layer)

    @staticmethod
    def layer(inputs, filters, kernel=3, groups=1):
        conv = nn.Conv2D(
            filters, kernel, padding=kernel // 2, groups=groups, in_channels=inputs, use_bias=False
        )
        relu6 = nn.HybridLambda(lambda F, x: F.clip(x, 0, 6))
        return conv, nn.BatchNorm(in_channels=filters), relu6

    def hybrid_forward(self, F, x):
        for layer in self.first:
            x = layer(x)
        for block in self.blocks:
            x = x + block(x)
        return self.last(F.Pooling(x, global_pool=True, pool_type="avg"))


@pytest.fixture(scope="module")
def network():
    mx.random.seed(2)
    rng = np.random.RandomState(7)
    net = Bottlenecks()
    net.initialize(mx.init.Xavier())
    for name, parameter in net.collect_params().items():
        if name.endswith("gamma"):
            parameter.set_data(mx.nd.array(np.exp(rng.normal(size=parameter.shape))))
        elif name.endswith("beta"):
            parameter.set_data(mx.nd.array(rng.normal(size=parameter.shape) * 0.3))
    return net


@pytest.fixture(scope="module")
def images():
    rng = np.random.RandomState(5)
    coarse = rng.normal(size=(48, 3, 4, 4)).repeat(3, axis=2).repeat(3, axis=3)
    return mx.nd.array(coarse + 0.1 * rng.normal(size=coarse.shape))


def loader(images):
    return mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(images), batch_size=8)


def fused(network):
    sym = network(mx.sym.var("data")).get_backend_symbol("MKLDNN_QUANTIZE")
    values = {name: p.data() for name, p in network.collect_params().items()}
    return sym, values


def run(sym, values, data):
    executor = sym.simple_bind(mx.cpu(), grad_req="null", data=data.shape)
    executor.copy_params_from(values, values, allow_extra_params=True)
    return executor.forward(is_train=False, data=data)[0].asnumpy()


def test_rounding_depends_on_the_inputs():
    rng = np.random.default_rng(3)
    data = rng.normal(size=(2, 9, 400)).cumsum(axis=1)  # neighbours are alike
    rows = rng.normal(size=(2, 5, 9))
    rows[1, 2] = 0
    tops = np.abs(rows).max(axis=-1, keepdims=True)
    steps = np.where(tops > 0, tops, 1) / 127
    actual = rounded(rows, steps, data @ data.transpose(0, 2, 1) / 400)
    numbers = actual / steps
    np.testing.assert_allclose(numbers, np.rint(numbers), atol=1e-9)
    largest = np.abs(rows) == tops
    np.testing.assert_allclose(actual[largest], rows[largest], rtol=1e-12)

    def error(weights):
        return np.sqrt(np.mean(((weights - rows) @ data) ** 2))

    assert error(actual) < 0.6 * error(np.rint(rows / steps) * steps)


def test_rounding_without_data_is_to_the_nearest():
    rows = np.random.default_rng(4).normal(size=(1, 3, 6))
    steps = np.abs(rows).max(axis=-1, keepdims=True) / 127
    actual = rounded(rows, steps, np.zeros((1, 6, 6)))
    np.testing.assert_allclose(actual, np.rint(rows / steps) * steps, rtol=1e-12)


def test_weights_compensate_for_errors_of_their_inputs():
    rng = np.random.default_rng(8)
    data = rng.normal(size=(2, 9, 800)).cumsum(axis=1)
    wrong = data * rng.uniform(0.8, 1.0, size=(2, 9, 1))  # each channel a little too small
    rows = rng.normal(size=(2, 5, 9))
    cross, own = (x[..., :400] @ wrong[..., :400].transpose(0, 2, 1) / 400 for x in (data, wrong))
    moved = compensated(rows, cross, own)

    def error(weights, inputs):
        return np.sqrt(np.mean((weights @ inputs - rows @ data)[..., 400:] ** 2))

    assert error(moved, wrong) < 0.9 * error(rows, wrong)
    np.testing.assert_allclose(compensated(rows, own, own), rows, rtol=1e-12)
    np.testing.assert_allclose(compensated(rows, 0 * own, 0 * own), rows, rtol=1e-12)


def test_factors_of_channels_do_not_change_results(network, images):
    sym, values = fused(network)
    expected = run(sym, values, images)
    qsym, _ = quantize_symbol(sym, None, None, None, list(values), "auto", "smart")
    names = {n.name.removeprefix("quantized_") for n in qsym.get_internals()}
    layers = layers_of(sym, names, dict(values))
    groups = shared_channels(sym, layers)
    # between expansion and depthwise, between that and projection, and all sums
    assert sorted(len(group.writers) for group in groups) == [1, 1, 1, 1, 3]
    assert sorted(group.limit for group in groups) == [6, 6, 6, 6, 6]
    assert not any(group.linear for group in groups)  # the first summand has an activation
    scaled = Preparation(sym, qsym, values, [{"data": images}], mx.cpu()).floats
    changed = [name for name in values if (scaled[name].asnumpy() != values[name].asnumpy()).any()]
    assert any(name.endswith("gamma") for name in changed)
    actual = run(sym, scaled, images)
    assert np.abs(actual - expected).max() < 0.02 * np.abs(expected).max()
    assert np.array_equal(run(sym, values, images), expected)


@pytest.mark.parametrize("mode", ["naive", "entropy"])
def test_results_are_nearer_to_those_of_floats(network, images, mode):
    expected = network(images).asnumpy()
    errors = {}
    for adjusts in (False, True):
        quantized = quantize_net(
            network,
            calib_data=loader(images),
            calib_mode=mode,
            quantize_mode="smart",
            adjust_parameters=adjusts,
        )
        errors[adjusts] = np.sqrt(np.mean((quantized(images).asnumpy() - expected) ** 2))
    assert errors[True] < 0.8 * errors[False]
    assert np.array_equal(network(images).asnumpy(), expected)


def test_parameters_may_stay_as_they_are(network, images):
    quantized = quantize_net(
        network, calib_data=loader(images), calib_mode="naive", adjust_parameters=False
    )
    kept = network.collect_params()
    for name, parameter in quantized.collect_params().items():
        if name in kept:
            assert np.array_equal(parameter.data().asnumpy(), kept[name].data().asnumpy())


def test_layers_that_share_a_weight_are_left_alone(images):
    net = nn.HybridSequential()
    net.add(nn.Conv2D(3, 1, in_channels=3, use_bias=False))
    net.add(nn.Conv2D(3, 1, in_channels=3, use_bias=False, params=net[0].params))
    net.initialize(mx.init.Xavier())
    quantized = quantize_net(net, calib_data=loader(images), calib_mode="naive")
    (kept,), (actual,) = (list(b.collect_params().values()) for b in (net, quantized))
    assert np.array_equal(actual.data().asnumpy(), kept.data().asnumpy())


def test_dense_weights_are_rounded_once():
    rng = np.random.RandomState(1)
    net = nn.Dense(6, in_units=40)
    net.initialize()
    weight = rng.normal(size=(6, 40)) * [[1], [0.3], [0.1], [0.05], [0.02], [0.01]]
    net.weight.set_data(mx.nd.array(weight))
    data = mx.nd.array(rng.uniform(-1, 1, size=(16, 40)))
    quantized = quantize_net(net, calib_data=loader(data), calib_mode="naive")
    values = {name: p.data().asnumpy() for name, p in quantized.collect_params().items()}
    weight, bias = (_floats(values, f"{role}_quantize") for role in ("weight", "bias"))
    top = np.abs(data.asnumpy()).max()
    numbers = np.clip(np.rint(data.asnumpy() * np.float32(127.5 / top)), -128, 127)
    expected = numbers * (top / 127.5) @ weight.T + bias
    np.testing.assert_allclose(
        quantized(data).asnumpy(), expected, atol=2e-6 * np.abs(expected).max()
    )


def _floats(values, end):
    (name,) = [n for n in values if n.endswith(end)]
    step = max(abs(values[f"{name}_{side}"][0]) for side in ("min", "max")) / 127
    return values[name].astype(float) * step


class Cut(CalibrationCollector):
    """Ranges of a quarter of the values' range."""

    def collect(self, name, op_name, arr):
        high = float(arr.max().asscalar()) / 4
        self.min_max_dict[name] = (min(float(arr.min().asscalar()), 0.0) / 4, high)


def test_bias_correction_compensates_clipping():
    mx.random.seed(4)
    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 3, in_channels=3, activation="relu"), nn.Conv2D(6, 1, in_channels=8))
    net.initialize(mx.init.Xavier())
    images = mx.nd.array(np.random.RandomState(3).gamma(1.0, size=(32, 3, 12, 12)))
    expected = net(images).asnumpy().mean(axis=(0, 2, 3))
    errors = []
    for adjusts in (False, True):
        quantized = quantize_net(
            net,
            calib_data=loader(images),
            calib_mode="custom",
            LayerOutputCollector=Cut(),
            adjust_parameters=adjusts,
        )
        errors.append(np.abs(quantized(images).asnumpy().mean(axis=(0, 2, 3)) - expected).max())
    assert errors[1] < 0.25 * errors[0]
    assert errors[0] > 0.1 * np.abs(expected).max()


def test_nodes_are_shown_with_their_data_in_both_networks(network, images):
    sym, values = fused(network)
    ranges = {"data": (-1.0, 1.0)}
    names = [n.name for n in topological(sym._entries) if n.name.startswith("sg_")]
    batches = [{"data": images[:8]}, {"data": images[8:16]}]
    shown = list(
        run_both(
            sym, QuantizedNodes(set(names), ranges, "auto"), values, dict(values), batches, mx.cpu()
        )
    )
    assert [node.name for node, *_ in shown] == names
    _, (float_data,), (int8_data,) = shown[0]
    assert np.array_equal(float_data[1].asnumpy(), images[8:16].asnumpy())
    expected = np.clip(np.rint(float_data[1].asnumpy() * np.float32(127.5)), -128, 127)
    np.testing.assert_allclose(int8_data[1].asnumpy() * 127.5, expected, atol=1e-3)


def test_the_bound_of_factors_weighs_data_against_weights():
    """A pointwise layer whose data have 16 channels of sizes 1 to 1/64: the bound matters."""
    rng = np.random.RandomState(6)
    sizes = np.exp2(-np.linspace(0, 6, 16))[:, None, None]
    images = mx.nd.array(rng.normal(size=(64, 16, 6, 6)))
    mx.random.seed(5)
    net = nn.HybridSequential()
    net.add(nn.Conv2D(16, 1, in_channels=16, activation="relu"), nn.Conv2D(12, 1, in_channels=16))
    net.initialize(mx.init.Normal(0.3))
    net[0].weight.set_data(mx.nd.array(net[0].weight.data().asnumpy() * sizes[..., None]))
    sym, values = fused(net)
    names = {node.name for node in topological(sym._entries)}
    first, last = layers_of(sym, names, values).values()
    arrays = run(sym.get_internals()[first.name], values, images)
    top, power = arrays.max(axis=(0, 2, 3)), np.square(arrays).mean(axis=(0, 2, 3))
    noises = {}
    for bound in (1.0, 4.0, 64.0):
        factors = np.clip(top.max() / top, 1.0, bound)
        noises[bound] = expected_noise([last], factors, top.max(), power, True)
    # noise measured with rounded data and weights
    for bound, expected in noises.items():
        factors = np.clip(top.max() / top, 1.0, bound)
        step = top.max() / 255.5
        scaled = np.rint(arrays * factors[:, None, None] / step) * step
        rows = last.rows()[0] / factors
        steps = np.abs(rows).max(axis=1, keepdims=True) / 127
        actual = np.einsum("fc,nchw->fnhw", np.rint(rows / steps) * steps, scaled)
        right = np.einsum("fc,nchw->fnhw", last.rows()[0], arrays)
        powers = (last.rows()[0] ** 2 * power).sum(axis=1)
        measured = (np.square(actual - right).mean(axis=(1, 2, 3)) / powers).sum()
        assert 0.4 < measured / expected < 2.5
    assert noises[4.0] < 0.9 * noises[1.0] and noises[4.0] < 0.9 * noises[64.0]
