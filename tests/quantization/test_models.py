"""mx.contrib.quantization: arguments, calibration, models and Gluon networks."""

import json

import numpy as np
import pytest

import mxcy as mx
from mxcy.contrib import quantization as quant
from mxcy.gluon import nn
from mxcy.quantization import symbols
from tests.quantization import golden

NETS = golden.nets(mx)


def relative_error(actual, expected):
    return abs(actual - expected).max() / abs(expected).max()


def outputs_of(sym, args, auxs, data):
    executor = sym.bind(mx.cpu(), {**args, "data": data}, aux_states=auxs, grad_req="null")
    return executor.forward()[0].asnumpy()


@pytest.mark.parametrize("granularity", ("tensor-wise", "channel-wise"))
@pytest.mark.parametrize("function", (quant.quantize_model, quant.quantize_model_mkldnn))
@pytest.mark.parametrize("name", [name for name in NETS if name != "product"])
def test_quantized_models_are_near_the_float_ones(name, function, granularity):
    sym, shape = NETS[name]
    data, args, auxs = golden.inputs(mx, name, sym, shape)
    expected = outputs_of(sym, args, auxs, data)
    for calib_mode in ("none", "naive"):
        qsym, qargs, qauxs = function(
            sym,
            args,
            auxs,
            label_names=None,
            calib_mode=calib_mode,
            calib_data=mx.io.NDArrayIter(data, batch_size=shape[0]),
            quantized_dtype="auto",
            quantize_mode="full",
            quantize_granularity=granularity,
        )
        again = mx.sym.load_json(qsym.tojson())
        assert again.tojson() == qsym.tojson()
        assert relative_error(outputs_of(again, qargs, qauxs, data), expected) < 0.03


def test_memory_of_calibration_is_released():
    sym, shape = NETS["plain"]
    _, args, auxs = golden.inputs(mx, "plain", sym, shape)
    data = mx.nd.random.uniform(shape=(256, *shape[1:]))
    more = {"calib_mode": "naive", "calib_data": mx.io.NDArrayIter(data, batch_size=256)}
    mx.cpu().empty_cache()
    quant.quantize_model(sym, args, auxs, label_names=None, **more)
    assert mx.storage.stats(mx.cpu())["pooled_bytes"] < data.size * 4


def test_parameters_are_int8_with_ranges():
    sym, shape = NETS["plain"]
    _, args, auxs = golden.inputs(mx, "plain", sym, shape)
    _, qargs, _ = quant.quantize_model(sym, args, auxs, calib_mode="none")
    weight = args["fc_weight"].asnumpy()
    top = abs(weight).max()
    assert qargs["fc_weight_quantize"].dtype == np.int8
    actual = qargs["fc_weight_quantize"].asnumpy() * (top / 127)
    np.testing.assert_allclose(actual, weight, atol=0.51 * top / 127)
    assert -qargs["fc_weight_quantize_min"].asscalar() == pytest.approx(top)
    assert qargs["fc_weight_quantize_max"].shape == (1,)


def quantized_names(sym, **kwargs):
    _, args, auxs = golden.inputs(mx, "", sym, (2, 4, 8, 8))
    qsym, *_ = quant.quantize_graph(sym, args, auxs, calib_mode="none", **kwargs)
    names = (row[1] for row in golden.described(qsym))
    return [n.removeprefix("quantized_") for n in names if n.startswith("quantized_")]


def test_excluded_layers_stay_float():
    sym = NETS["residual"][0]
    assert quantized_names(sym) == ["c1", "b1", "r1", "c2", "add", "r2"]
    assert quantized_names(sym, excluded_sym_names=["c1", "add"]) == ["b1", "r1", "c2", "r2"]
    assert quantized_names(sym, excluded_op_names=["BatchNorm"]) == ["c1", "r1", "c2", "add", "r2"]
    fused = sym.get_backend_symbol("ONEDNN_QUANTIZE")
    both = ["sg_onednn_conv_bn_act_0", "sg_onednn_conv_add_act_1"]
    assert quantized_names(fused) == both
    assert quantized_names(fused, excluded_sym_names=["b1"]) == both[1:]
    assert quantized_names(fused, excluded_op_names=["_sg_onednn_conv"]) == []


def test_operators_between_layers_are_quantized():
    sym = NETS["residual"][0]
    assert quantized_names(sym, quantize_mode="smart") == ["c1", "b1", "r1", "c2"]


def test_verbose_prints_float_layers_with_reasons(capsys, monkeypatch):
    monkeypatch.setenv("MXCY_VERBOSE", "passes")
    sym, shape = NETS["tanh"]
    data, args, auxs = golden.inputs(mx, "tanh", sym, shape)
    batches = mx.io.NDArrayIter(data, batch_size=shape[0])
    quant.quantize_model(sym, args, auxs, calib_mode="naive", calib_data=batches)
    told = [line.split() for line in capsys.readouterr().out.splitlines() if "quantize" in line]
    assert ["mxcy", "quantize", "th", "float:", "act_type='tanh'"] in told
    assert any(row[2:] == ["f1", "_contrib_quantized_fully_connected"] for row in told)
    assert any(row[2] == "th_output" and row[4] == "..." for row in told)


def test_verbose_prints_quantized_nodes(caplog, monkeypatch):
    monkeypatch.setenv("MXNET_QUANTIZATION_VERBOSE", "1")
    quantized_names(NETS["concat"][0])
    told = [record.getMessage() for record in caplog.records]
    assert told == ["ca is quantized.", "cb is quantized.", "cat is quantized."]


@pytest.mark.parametrize(
    "kwargs, message",
    [
        ({"excluded_sym_names": "c1"}, "excluded_sym_names must be a list"),
        ({"excluded_op_names": ("Pooling",)}, "excluded_op_names must be a list"),
        ({"quantized_dtype": "int4"}, "expected `int8`, `uint8` or `auto`"),
        ({"quantize_granularity": "row-wise"}, "unknown quantize_granularity row-wise"),
        ({"calib_mode": "foo"}, "unknown calibration mode foo received, expected `none`"),
        ({"calib_mode": "naive"}, "calib_data must be provided when calib_mode=naive"),
        ({"calib_mode": "naive", "calib_data": [1]}, "calib_data must be of DataIter type"),
        ({"ctx": [mx.cpu(), mx.cpu(1)]}, "only supports single ctx"),
    ],
)
def test_wrong_arguments(kwargs, message):
    with pytest.raises(ValueError, match=message):
        quant.quantize_model(NETS["plain"][0], {}, {}, **{"calib_mode": "none", **kwargs})


def test_further_wrong_arguments():
    sym = NETS["plain"][0]
    with pytest.raises(mx.MXNetError, match="mode: half, expected `full` or `smart`"):
        quant.quantize_graph(sym, {}, {}, calib_mode="none", quantize_mode="half")
    with pytest.raises(ValueError, match="must be a CalibrationCollector"):
        quant.quantize_graph(sym, {}, {}, calib_mode="custom", LayerOutputCollector=object())
    with pytest.raises(ValueError, match="please set calibration mode"):
        quant.calib_graph(sym, {}, {}, None, calib_mode="none")
    with pytest.raises(ValueError, match="only supports the CPU"):
        quant.quantize_model_onednn(sym, {}, {}, device=mx.gpu(0))
    with pytest.raises(ValueError, match="data_shapes required"):
        quant.quantize_net(nn.Dense(2))
    with pytest.raises(mx.MXNetError, match="no values for c1_bias, c1_weight"):
        data = mx.io.NDArrayIter(mx.nd.ones((2, 4, 8, 8)), batch_size=2)
        quant.quantize_model(sym, {}, {}, calib_mode="naive", calib_data=data)


def test_negative_numbers_where_uint8_was_asked_for():
    sym, shape = NETS["tanh"]
    data, args, auxs = golden.inputs(mx, "tanh", sym, shape)
    expected = outputs_of(sym, args, auxs, data)
    with pytest.warns(UserWarning, match="negative values in data_quantize"):
        qsym, qargs, _ = quant.quantize_model_mkldnn(
            sym,
            args,
            auxs,
            calib_mode="naive",
            calib_data=mx.io.NDArrayIter(data, batch_size=shape[0]),
            quantized_dtype="uint8",
        )
    assert relative_error(outputs_of(qsym, qargs, {}, data), expected) < 0.02


# --- calibration ---------------------------------------------------------------------------------


class Widest(quant.CalibrationCollector):
    """Ranges twice as wide as necessary."""

    def collect(self, name, op_name, arr):
        if name in self.include_layers:
            top = 2 * float(abs(arr.asnumpy()).max())
            self.min_max_dict[name] = (-top, top)


class Old:
    """A collector with MXNet 1.9.1's interface."""

    def __init__(self):
        self.min_max_dict, self.names = {}, []

    def collect(self, name, arr):
        self.names.append(name)
        values = arr.asnumpy()
        low, high = self.min_max_dict.get(name, (np.inf, -np.inf))
        self.min_max_dict[name] = (min(low, float(values.min())), max(high, float(values.max())))


@pytest.mark.parametrize("collector, mode", [(Widest(), "custom"), (Old(), "customize")])
def test_collectors_of_users(collector, mode):
    mx.random.seed(7)
    net = nn.HybridSequential()
    net.add(nn.Dense(8, activation="relu"), nn.Dense(3))
    net.initialize(mx.init.Normal(0.5))
    data = mx.nd.random.uniform(-1, 1, shape=(16, 5))
    expected = net(data).asnumpy()
    quantized = quant.quantize_net(
        net,
        calib_mode=mode,
        calib_data=mx.io.NDArrayIter(data, batch_size=4),
        LayerOutputCollector=collector,
    )
    assert relative_error(quantized(data).asnumpy(), expected) < 0.03
    assert "data" in collector.min_max_dict


def test_histograms_grow_with_their_batches():
    rng = np.random.default_rng(0)
    parts = [rng.normal(size=500) * scale for scale in (1, 0.5, 3)]
    collector = quant._LayerHistogramCollector(num_bins=101)
    for part in parts:
        collector.collect("x", mx.nd.array(part))
    counts, edges, low, high, top = collector.hist_dict["x"]
    assert counts.sum() == 1500 and len(counts) % 2 == 1 and len(edges) == len(counts) + 1
    whole = np.concatenate(parts).astype("float32")
    assert (low, high) == (whole.min(), whole.max()) and top >= abs(whole).max()
    np.testing.assert_allclose(np.diff(edges), 2 * top / len(counts), rtol=1e-4)
    assert collector.post_collect()["x"][1] <= top


def test_zeros_first():
    old = quant._LayerHistogramCollector(num_bins=11)
    old.collect("x", mx.nd.zeros(5))
    old.collect("x", mx.nd.array([-1.0, 2.0]))
    counts, _, low, high, top = old.hist_dict["x"]
    assert counts.sum() == 7 and counts[5] >= 5 and (low, high, top) == (-1, 2, 2)


def test_executors_may_be_watched_by_collectors():
    sym, shape = NETS["plain"]
    data, args, auxs = golden.inputs(mx, "plain", sym, shape)
    fused = sym.get_backend_symbol("MKLDNN_QUANTIZE")
    qsym, _, _, collector = quant.quantize_graph(fused, args, auxs, calib_mode="naive")
    executor = fused.bind(mx.cpu(), {**args, "data": data}, grad_req="null")
    executor.set_monitor_callback(collector.collect, monitor_all=True)
    expected = executor.forward()[0].asnumpy()
    qsym, qargs, _ = quant.calib_graph(qsym, args, auxs, collector, "naive")
    assert len(collector.min_max_dict) >= 2
    assert relative_error(outputs_of(qsym, qargs, {}, data), expected) < 0.06


# --- Gluon ---------------------------------------------------------------------------------------


def count_operators(block):
    counts = {}
    for operator, *_ in golden.described(block.export(None)[0]):
        counts[operator] = counts.get(operator, 0) + 1
    return counts


def test_a_narrow_resnet_50_needs_no_float_between_its_layers():
    vision = mx.gluon.model_zoo.vision
    net = vision.ResNetV1(vision.BottleneckV1, [3, 4, 6, 3], [16, 64, 128, 256, 512], classes=10)
    net.initialize(mx.init.Xavier())
    data = mx.nd.random.uniform(-1, 1, shape=(1, 3, 64, 64))
    expected = net(data).asnumpy()
    quantized = quant.quantize_net(
        net, quantize_mode="smart", calib_mode="naive", calib_data=mx.io.NDArrayIter(data)
    )
    assert count_operators(quantized) == {
        "_contrib_quantize_v2": 1,
        "_sg_mkldnn_conv": 53,
        "_contrib_quantized_pooling": 2,
        "_sg_mkldnn_fully_connected": 1,
    } | {key: n for key, n in count_operators(quantized).items() if "flatten" in key}
    assert relative_error(quantized(data).asnumpy(), expected) < 0.15
    np.testing.assert_array_equal(net(data).asnumpy(), expected)


def test_blocks_may_be_saved(tmp_path):
    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 3, activation="relu"), nn.BatchNorm(), nn.Flatten(), nn.Dense(3))
    net.initialize()
    data = mx.nd.random.uniform(-1, 1, shape=(2, 3, 6, 6))
    loader = mx.gluon.data.DataLoader(
        mx.gluon.data.ArrayDataset(data, mx.nd.zeros(2)), batch_size=2
    )
    expected = net(data).asnumpy()
    quantized = quant.quantize_net(net, calib_mode="naive", calib_data=loader)
    actual = quantized(data).asnumpy()
    assert relative_error(actual, expected) < 0.03
    quantized.export(str(tmp_path / "q"))
    again = mx.gluon.SymbolBlock.imports(
        str(tmp_path / "q-symbol.json"), ["data"], str(tmp_path / "q-0000.params")
    )
    np.testing.assert_allclose(again(data).asnumpy(), actual, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("shapes", ([(2, 4)], [mx.io.DataDesc("data", (2, 4))]))
def test_shapes_in_place_of_data(shapes):
    net = nn.Dense(3)
    net.initialize()
    quantized = quant.quantize_net_v2(net, data_shapes=shapes, exclude_layers_match=["nothing"])
    data = mx.nd.random.uniform(-1, 1, shape=(2, 4))
    assert relative_error(quantized(data).asnumpy(), net(data).asnumpy()) < 0.03
    assert "_quantize" in str(quantized.collect_params())
    excluded = quant.quantize_net(net, data_shapes=shapes, exclude_layers_match=["dense"])
    np.testing.assert_allclose(excluded(data).asnumpy(), net(data).asnumpy(), rtol=1e-5)


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        ("conv", ["sg_onednn_conv_act_0", "quantized_sg_onednn_fully_connected_0"]),
        ("fully", ["quantized_sg_onednn_conv_act_0", "sg_onednn_fully_connected_0"]),
        ("sg_", ["sg_onednn_conv_act_0", "sg_onednn_fully_connected_0"]),
        ("node_", ["quantized_sg_onednn_conv_act_0", "quantized_sg_onednn_fully_connected_0"]),
    ],
)
def test_matches_of_layers_are_names_after_fusion_as_in_mxnet_2(tmp_path, match, expected):
    with mx.util.np_shape(True), mx.util.np_array(True):
        net = nn.HybridSequential()
        net.add(nn.Conv2D(4, 3, activation="relu"), nn.Dense(3))
        net.initialize()
        images = mx.np.ones((2, 3, 8, 8))
        net(images)
        quantized = quant.quantize_net(
            net, quantized_dtype="auto", exclude_layers_match=[match], data_shapes=[images.shape]
        )
        quantized(images)
        quantized.export(str(tmp_path / "q"))
    nodes = json.loads((tmp_path / "q-symbol.json").read_text())["nodes"]
    layers = [node["name"] for node in nodes if node["op"].startswith("_sg_")]
    assert layers == expected


def test_lenet_on_digits():
    """Trained on scikit-learn's digits; quantization does not reduce its accuracy."""
    digits = pytest.importorskip("sklearn.datasets", reason="needs scikit-learn").load_digits()
    order = np.random.RandomState(0).permutation(len(digits.target))
    images = (digits.images[order] / 16).astype("float32")[:, None]
    labels = digits.target[order].astype("float32")
    train, test = slice(None, 1200), slice(1200, None)
    mx.random.seed(3)
    net = nn.HybridSequential()
    net.add(nn.Conv2D(16, 3, padding=1, activation="relu"), nn.MaxPool2D(2))
    net.add(nn.Conv2D(32, 3, padding=1, activation="relu"), nn.MaxPool2D(2))
    net.add(nn.Flatten(), nn.Dense(64, activation="relu"), nn.Dense(10))
    net.initialize(mx.init.Xavier())
    net.hybridize()
    trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 3e-3})
    loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    for _ in range(10):
        for begin in range(0, 1200, 100):
            x, y = (
                mx.nd.array(images[begin : begin + 100]),
                mx.nd.array(labels[begin : begin + 100]),
            )
            with mx.autograd.record():
                value = loss(net(x), y)
            value.backward()
            trainer.step(100)

    def accuracy(block):
        actual = block(mx.nd.array(images[test])).asnumpy().argmax(1)
        return (actual == labels[test]).mean()

    expected = accuracy(net)
    assert expected > 0.9
    for mode in ("naive", "entropy"):
        batches = mx.io.NDArrayIter(mx.nd.array(images[train][:256]), batch_size=64)
        quantized = quant.quantize_net(net, calib_mode=mode, calib_data=batches)
        assert abs(accuracy(quantized) - expected) < (0.0035 if mode == "naive" else 0.01)


@pytest.mark.parametrize("function", (quant.quantize_model, quant.quantize_model_mkldnn))
def test_scales_that_count_as_one_do_so_in_8_bits(function):
    net = mx.sym.Convolution(mx.sym.var("data"), kernel=(3, 3), num_filter=4, name="conv")
    net = mx.sym.BatchNorm(net, fix_gamma=True, name="bn")
    net = mx.sym.FullyConnected(net, num_hidden=3, name="fc")
    numbers = np.random.RandomState(0)
    shapes, _, state_shapes = net.infer_shape(data=(4, 3, 8, 8))
    args = {
        name: mx.nd.array(numbers.randn(*shape) * 0.3)
        for name, shape in zip(net.list_arguments(), shapes, strict=True)
    }
    data = args.pop("data")
    args["bn_gamma"][:] = 3
    states = zip(net.list_auxiliary_states(), state_shapes, strict=True)
    auxs = {name: mx.nd.array(numbers.rand(*shape) + 0.5) for name, shape in states}
    expected = outputs_of(net, args, auxs, data)
    qsym, qargs, qauxs = function(
        net, args, auxs, label_names=None, calib_mode="naive",
        calib_data=mx.io.NDArrayIter(data, batch_size=4), quantize_mode="full",
    )  # fmt: skip
    assert relative_error(outputs_of(qsym, qargs, qauxs, data), expected) < 0.03
    assert args["bn_gamma"].asnumpy().tolist() == [3] * 4


def test_a_cpu_without_fast_8_bit_layers_warns_once(monkeypatch, caplog):
    monkeypatch.setattr(symbols.cpus, "multiplies_octets", lambda: False)
    symbols._warn_of_slow_layers.cache_clear()
    sym, shape = NETS["plain"]
    _, args, auxs = golden.inputs(mx, "plain", sym, shape)
    for _ in range(2):
        quant.quantize_model(sym, args, auxs, calib_mode="none")
    symbols._warn_of_slow_layers.cache_clear()
    told = [record.message for record in caplog.records if "VNNI" in record.message]
    assert len(told) == 1
