"""Int8 layers in plans: kernels against their definition, and optimized against plain graphs."""

import numpy as np
import pytest

import mxcy as mx
from mxcy._base.dtypes import code_of
from mxcy._library import front
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.record import find

needs_onednn = pytest.mark.skipif(
    not front.has_kernel("int8_conv_onednn", code_of("uint8")),
    reason="oneDNN is not installed, or has no exact sums of bytes here",
)


def _packed(name, pack, attrs, arrays, form):
    """A layer's result by oneDNN's kernel."""
    record, algo = find(name), f"{name[1:]}_onednn"
    a = record.schema.intern(name, {**attrs, "algo": algo, "packed": 1})
    ins = [Spec(x.shape, code_of(x.dtype)) for x in arrays]
    ins[1] = Spec((1,), code_of("uint8"))
    params = record.kernels[0].struct.pack(**record.kernels[0].params(a, ins, record.infer(a, ins)))
    size = front.query(algo, params, ins, record.infer(a, ins), "packed")
    attrs = {**attrs, "algo": algo, "packed": size}
    (blob,), ran = front.execute(find(pack), (arrays[1],), {**attrs, **form})
    assert ran == f"{algo}_pack"
    outs, ran = front.execute(record, (arrays[0], blob, *arrays[2:]), attrs)
    assert ran == algo
    return outs[0].asnumpy()


def _drawn(rng, shape, kind):
    low, high = (-128, 128) if kind == "int8" else (0, 256)
    return mx.nd.array(rng.integers(low, high, shape), dtype=kind)


def _assert_a_step_apart(actual, want, kind):
    assert actual.dtype == want.dtype == np.dtype(kind)
    if kind == "float32":
        np.testing.assert_allclose(actual, want, rtol=1e-5, atol=1e-4)
    else:  # halves may be rounded either way, as sums are rounded before
        difference = abs(actual.astype(int) - want.astype(int))
        assert difference.max() <= 1 and (difference > 0).mean() < 0.01


@needs_onednn
@pytest.mark.parametrize("source", ["int8", "uint8"])
@pytest.mark.parametrize("out_type", ["int8", "uint8", "float32"])
@pytest.mark.parametrize("group", [1, 2, 32])
def test_packed_convolutions(source, out_type, group):
    rng = np.random.default_rng(group)
    data, filters = _drawn(rng, (2, 9, 8, 32), source), 32
    weight = _drawn(rng, (filters, 32 // group, 3, 3), "int8")
    scale = mx.nd.array(rng.uniform(0.5, 1, filters) / (3000 * np.sqrt(32 / group)))
    bias = mx.nd.array(rng.uniform(-9, 9, filters))
    attrs = {"kernel": (3, 3), "pad": (1, 1), "num_filter": filters, "num_group": group}
    attrs |= {"source_type": source, "out_type": out_type}
    arrays, form = [data, weight, scale, bias], {"batch": 2, "source": (9, 8)}
    variants = [{"act": "relu"}, {"act": "clip", "limit": 40.0}, {"no_bias": True}]
    for extra in variants:
        given = arrays[:3] if extra.get("no_bias") else list(arrays)
        if out_type != "float32" and extra.get("act") != "clip":
            given.append(_drawn(rng, (2, 9, 8, filters), "int8"))
            extra = {**extra, "with_sum": True, "other_scale": 0.3}
        want = mx.nd._internal._int8_conv(*given, **attrs, **extra).asnumpy()
        actual = _packed("_int8_conv", "_pack_int8_conv_weight", attrs | extra, given, form)
        _assert_a_step_apart(actual, want, out_type)


@needs_onednn
@pytest.mark.parametrize("source", ["int8", "uint8"])
@pytest.mark.parametrize("out_type", ["int8", "float32"])
def test_packed_dense_layers(source, out_type):
    rng = np.random.default_rng(5)
    data, weight = _drawn(rng, (3, 70), source), _drawn(rng, (21, 70), "int8")
    scale, bias = mx.nd.array(rng.uniform(0.5, 1, 21) / 9000), mx.nd.array(rng.uniform(-9, 9, 21))
    attrs = {"num_hidden": 21, "source_type": source, "out_type": out_type, "act": "relu"}
    inputs = [data, weight, scale, bias]
    want = mx.nd._internal._int8_dense(*inputs, **attrs).asnumpy()
    actual = _packed("_int8_dense", "_pack_int8_dense_weight", attrs, inputs, {"batch": 3})
    _assert_a_step_apart(actual, want, out_type)


class _Net:
    """A symbol whose layers are between quantized arrays."""

    def __init__(self, shape=(2, 3, 12, 10)):
        self.rng, self.shape = np.random.default_rng(1), shape
        self.data = mx.sym.var("data")
        self.numbers = self.quantized(self.data, -3, 3)

    @staticmethod
    def quantized(floats, low, high):
        keywords = {"min_calib_range": low, "max_calib_range": high, "out_type": "auto"}
        return list(mx.sym.contrib.quantize_v2(floats, **keywords))

    @staticmethod
    def floats(numbers):
        return mx.sym.contrib.dequantize(*numbers)

    def conv(self, numbers, name, filters=16, **attrs):
        attrs = {"kernel": (3, 3), "pad": (1, 1), "num_filter": filters, **attrs}
        return self.layer(mx.sym.Convolution, numbers, name, **attrs)

    def layer(self, operator, numbers, name, **attrs):
        """A float layer whose weight was rounded to int8."""
        data = self.floats(numbers)
        plain = operator(data, name=name, **attrs)
        shapes, _, _ = plain.infer_shape(data=self.shape)
        shape = dict(zip(plain.list_arguments(), shapes, strict=True))[f"{name}_weight"]
        weight = mx.sym._internal._round_filters(mx.sym.var(f"{name}_weight", shape=shape))
        return operator(data, weight, name=name, **attrs)

    def executor(self, *outputs):
        symbol = mx.sym.Group(outputs) if len(outputs) > 1 else outputs[0]
        executor = symbol.simple_bind(mx.cpu(), grad_req="null", data=self.shape)
        for arrays in (executor.arg_dict, executor.aux_dict):
            for name, array in arrays.items():
                scale = 1 if name == "data" else 0.2
                values = self.rng.normal(size=array.shape) * scale
                array[:] = abs(values) + 0.5 if name.endswith("_var") else values
        return executor

    def compare(self, monkeypatch, capfd, *outputs, narrowed, tol=0.03):
        """Compare int8 outputs with those of float layers between the same quantized arrays."""
        executor = self.executor(*outputs)
        inputs = {**executor.arg_dict}, {**executor.aux_dict}
        symbol = mx.sym.Group(outputs) if len(outputs) > 1 else outputs[0]
        monkeypatch.setenv("MXNET_SUBGRAPH_BACKEND", "NONE")
        plain = symbol.bind(mx.cpu(), inputs[0], aux_states=inputs[1], grad_req="null")
        want = [x.asnumpy() for x in plain.forward()]
        monkeypatch.delenv("MXNET_SUBGRAPH_BACKEND")
        monkeypatch.setenv("MXCY_VERBOSE", "passes")
        capfd.readouterr()
        narrow = symbol.bind(mx.cpu(), inputs[0], aux_states=inputs[1], grad_req="null")
        actual = [x.asnumpy() for x in narrow.forward()]
        (line,) = [t for t in capfd.readouterr().out.splitlines() if "pass int8" in t]
        for op, count in narrowed.items():
            assert f"{op} 0 -> {count}" in line if count else op not in line, line
        for got, expected in zip(actual, want, strict=True):
            assert got.dtype == expected.dtype and got.shape == expected.shape
            if expected.dtype == np.float32:
                assert abs(got - expected).max() <= tol * abs(expected).max()
            else:
                difference = abs(got.astype(int) - expected.astype(int))
                assert difference.max() <= 0.04 * 255 and difference.mean() < 1


@needs_onednn
def test_a_residual_network_stays_in_8_bits(monkeypatch, capfd):
    net = _Net()
    relu = {"act_type": "relu"}
    norm = mx.sym.BatchNorm(net.conv(net.numbers, "c1"), fix_gamma=False, name="bn")
    first = net.quantized(mx.sym.Activation(norm, **relu), 0, 3)
    second = net.quantized(net.conv(first, "c2", no_bias=True), -3, 3)
    total = net.conv(second, "c3") + net.floats(first)
    third = net.quantized(mx.sym.Activation(total, **relu), 0, 4)
    pooled = mx.sym.contrib.quantized_pooling(*third, kernel=(2, 2), stride=(2, 2))
    joined = mx.sym.contrib.quantized_concat(
        pooled[0], pooled[0], pooled[1], pooled[2], pooled[1], pooled[2], num_args=2
    )
    whole = mx.sym.contrib.quantized_pooling(*joined, global_pool=True, pool_type="avg")
    flat = mx.sym.contrib.quantized_flatten(*whole)
    dense = net.layer(mx.sym.FullyConnected, flat, "fc", num_hidden=5)
    outputs = (dense, net.floats(third), third[0], third[1], third[2], second[0])
    net.compare(monkeypatch, capfd, *outputs, narrowed={"_int8_conv": 3, "_int8_dense": 1})


@needs_onednn
def test_relu6_groups_and_other_dimensions(monkeypatch, capfd):
    net = _Net((2, 16, 11))
    one = {"kernel": (3,), "pad": (1,)}
    numbers = net.quantized(mx.sym.clip(net.conv(net.numbers, "c1", **one), 0, 0.5), 0, 0.5)
    numbers = net.quantized(net.conv(numbers, "c2", num_group=16, **one), -2, 2)
    dense = net.layer(mx.sym.FullyConnected, numbers, "fc", num_hidden=5, flatten=False)
    net.compare(monkeypatch, capfd, dense, narrowed={"_int8_conv": 2, "_int8_dense": 1})


@needs_onednn
def test_layers_without_ranges_or_float_weights_stay_float(monkeypatch, capfd):
    net = _Net()
    actual = mx.sym.contrib.quantize_v2(net.data)
    unknown = mx.sym.Convolution(
        net.floats(list(actual)), kernel=(3, 3), num_filter=4, name="of_unknown_range"
    )
    known = net.conv(net.numbers, "of_known_range")
    tanh = mx.sym.Activation(net.conv(net.numbers, "curved"), act_type="tanh")
    sums = net.conv(net.numbers, "c2") + mx.sym.var("other", shape=(2, 16, 12, 10))
    floats = mx.sym.Convolution(
        net.floats(net.numbers), kernel=(3, 3), num_filter=4, name="of_float_weights"
    )
    outputs = (unknown, known, floats, net.quantized(tanh, -1, 1)[0], net.quantized(sums, -3, 3)[0])
    net.compare(monkeypatch, capfd, *outputs, narrowed={"_int8_conv": 1})


@needs_onednn
def test_layers_that_differ_in_factors_share_a_trial(monkeypatch, capfd, tmp_path):
    monkeypatch.setenv("MXNET_HOME", str(tmp_path))
    monkeypatch.setenv("MXNET_CUDNN_ALGO_VERBOSE_LEVEL", "2")
    net = _Net((2, 16, 12, 10))
    numbers = net.numbers
    for number, limit in enumerate((0.5, 0.75, 1.0)):
        floats = mx.sym.clip(net.conv(numbers, f"c{number}"), 0, limit)
        numbers = net.quantized(floats, 0, 1.0)
    net.executor(net.floats(numbers)).forward()
    lines = capfd.readouterr().out.splitlines()
    assert sum(line.startswith("mxcy algorithm _int8_conv") for line in lines) == 3
    # Those of unsigned data have one trial, that of the signed input another.
    assert sum(line.startswith("mxcy algorithm *") for line in lines) == 2


@needs_onednn
def test_new_weights_are_packed_again():
    net = _Net()
    executor = net.executor(net.floats(net.quantized(net.conv(net.numbers, "c1"), -3, 3)))
    before = executor.forward()[0].asnumpy()
    executor.arg_dict["c1_weight"][:] = 0
    executor.arg_dict["c1_bias"][:] = 1
    after = executor.forward()[0].asnumpy()
    assert before.std() > 0.1 and abs(after - 1).max() < 0.02


@needs_onednn
def test_normalisations_between_layers_stay_channels_last(monkeypatch, capfd):
    net = _Net()
    first = net.quantized(net.conv(net.numbers, "c1"), -3, 3)
    parts = [mx.sym.var(f"bn_{name}") for name in ("gamma", "beta", "mean", "var")]
    keywords = {"min_calib_range": -2, "max_calib_range": 2}
    norm = mx.sym.contrib.quantized_batch_norm(first[0], *parts, *first[1:], **keywords)
    relu = mx.sym.contrib.quantized_act(*norm, act_type="relu")
    second = net.quantized(net.conv(relu, "c2"), -3, 3)
    added = mx.sym.contrib.quantized_elemwise_add(
        second[0], first[0], second[1], second[2], first[1], first[2], **keywords
    )
    narrowed = {"_int8_conv": 2, "_quantized_norm_relu": 1, "_quantize_last": 1, "transpose": 1}
    outputs = net.floats(list(added)), added[1]
    net.compare(monkeypatch, capfd, *outputs, narrowed=narrowed, tol=0.06)


def _steps(floats, step, zero, kind="uint8"):
    """Floats quantized to int8 by a step, and dequantized."""
    told = {"step": step, "zero": zero}
    numbers = mx.sym._internal._quantize_linear(floats, out_type=kind, **told)
    return mx.sym._internal._dequantize_linear(numbers, **told), numbers


def _stepped_layer(net, data, name, channels=3):
    """A convolution with int8 filters that have steps."""
    weight = mx.sym.cast(mx.sym.var(f"{name}_weight", shape=(16, channels, 3, 3)) * 100, "int8")
    steps = mx.sym.abs(mx.sym.var(f"{name}_steps", shape=(16,))) / 10 + 0.001
    floats = mx.sym._internal._dequantize_filters(weight, steps)
    return mx.sym.Convolution(data, floats, kernel=(3, 3), pad=(1, 1), num_filter=16, name=name)


def test_sums_and_maxima_between_steps_stay_in_8_bits(monkeypatch, capfd):
    net = _Net()
    if not front.has_kernel("int8_conv_direct", code_of("uint8")):
        pytest.skip("this CPU has no products of 8 bits")
    data, _ = _steps(net.data, 0.03, 120)
    first, _ = _steps(_stepped_layer(net, data, "c1"), 0.05, 100)
    second, _ = _steps(_stepped_layer(net, first, "c2", 16), 0.06, -3, "int8")
    total, sums = _steps(first + second, 0.08, 90)
    pooled, maxima = _steps(
        mx.sym.Pooling(total, kernel=(2, 2), stride=(2, 2), pool_type="max"), 0.08, 90
    )
    other, means = _steps(
        mx.sym.Pooling(total, kernel=(2, 2), stride=(2, 2), pool_type="avg"), 0.08, 90
    )
    narrowed = {"_int8_conv": 2, "_linear_sum": 1, "_contrib_quantized_pooling": 2}
    net.compare(monkeypatch, capfd, pooled, sums, maxima, other, means, narrowed=narrowed)


def test_joins_and_means_between_steps_stay_in_8_bits(monkeypatch, capfd):
    net = _Net()
    if not front.has_kernel("int8_conv_direct", code_of("uint8")):
        pytest.skip("this CPU has no products of 8 bits")
    data, _ = _steps(net.data, 0.03, 120)
    first, _ = _steps(_stepped_layer(net, data, "c1"), 0.05, 100)
    second, _ = _steps(_stepped_layer(net, data, "c2"), 0.06, -3, "int8")
    third, _ = _steps(_stepped_layer(net, data, "c3"), 0.08, 90)
    both, joined = _steps(mx.sym.concat(first, second, third, dim=1), 0.08, 90)
    _, last = _steps(_stepped_layer(net, both, "c4", 48), 0.2, 7)
    mean = mx.sym.Pooling(both, global_pool=True, pool_type="avg")
    _, means = _steps(mean, 0.01, -20, "int8")
    # where padding counts as 0, which is not the zero point, averages are computed in floats
    padded = mx.sym.Pooling(both, kernel=(3, 3), pad=(1, 1), pool_type="avg")
    _, averages = _steps(padded, 0.08, 90)
    narrowed = {"_int8_conv": 4, "_linear_map": 2, "_linear_mean": 1}
    narrowed["_contrib_quantized_pooling"] = 0
    net.compare(monkeypatch, capfd, joined, last, means, averages, narrowed=narrowed)


@pytest.mark.parametrize("zero, narrowed", [(0, 1), (-128, 1), (5, 0)])
def test_activations_at_the_limits_of_the_type(zero, narrowed, monkeypatch, capfd):
    """Saturation does ReLU's work if 0 is the least value; otherwise it needs floats."""
    net = _Net()
    if not front.has_kernel("int8_conv_direct", code_of("uint8")):
        pytest.skip("this CPU has no products of 8 bits")
    data, _ = _steps(net.data, 0.03, 120)
    relu = mx.sym.Activation(_stepped_layer(net, data, "c1"), act_type="relu")
    _, numbers = _steps(relu, 0.03, zero, "int8")
    floats = _stepped_layer(net, data, "c2") if narrowed else numbers
    net.compare(monkeypatch, capfd, numbers, floats, narrowed={"_int8_conv": 2 * narrowed})
