"""Quantized ONNX models: layers between per-tensor quantized arrays compute in int8."""

import json

import numpy as np
import pytest

import mxcy as mx

onnx = pytest.importorskip("onnx", reason="the extra 'onnx' is not installed")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

from mxcy.gluon import nn  # noqa: E402
from tests.onnx.test_backend import model_of  # noqa: E402


def quantized_layer(kind, zero):
    """A convolution between quantized arrays; (model, operators it should have)."""
    rng = np.random.RandomState(3)
    weight = rng.randint(-127, 128, (4, 3, 3, 3)).astype(np.int8)
    steps = rng.uniform(0.005, 0.02, 4).astype(np.float32)
    last = np.uint8 if kind == "uint8" else np.int8
    constants = {
        "step": np.float32(0.05),
        "zero": np.int8(zero),
        "w": weight,
        "w_steps": steps,
        "w_zeros": np.zeros(4, np.int8),
        "b": rng.randn(4).astype(np.float32),
        "y_step": np.float32(0.25),
        "y_zero": last(0),
    }
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "step", "zero"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "step", "zero"], ["d"]),
        helper.make_node("DequantizeLinear", ["w", "w_steps", "w_zeros"], ["v"], axis=0),
        helper.make_node("Conv", ["d", "v", "b"], ["c"], pads=[1] * 4),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("QuantizeLinear", ["r", "y_step", "y_zero"], ["p"]),
        helper.make_node("DequantizeLinear", ["p", "y_step", "y_zero"], ["y"]),
    ]
    tensors = [numpy_helper.from_array(np.array(value), name) for name, value in constants.items()]
    told = [[(name, TensorProto.FLOAT, ("n", size, 8, 8))] for name, size in (("x", 3), ("y", 4))]
    return model_of(nodes, *told, 19, tensors)


@pytest.mark.parametrize("kind, zero", [("int8", 0), ("uint8", 0), ("int8", 3), ("uint8", -90)])
def test_results_are_at_most_a_step_from_onnx_own(kind, zero):
    model = quantized_layer(kind, zero)
    x = np.random.RandomState(4).randn(2, 3, 8, 8).astype(np.float32)
    wanted = ReferenceEvaluator(model).run(None, {"x": x})[0]
    sym, _, _ = mx.contrib.onnx.import_model(model)
    operators = [node["op"] for node in json.loads(sym.tojson())["nodes"]]
    assert operators.count("_quantize_linear") == 2 and "_dequantize_filters" in operators
    net = mx.contrib.onnx.import_to_gluon(model)
    for hybrid in (False, True):
        net.hybridize(hybrid)
        steps = np.abs(net(mx.nd.array(x)).asnumpy() - wanted) / 0.25
        assert steps.max() < 1.01 and np.mean(steps > 0.5) < 0.02


# --- export --------------------------------------------------------------------------------------


def small_network():
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(8, 3, padding=1, use_bias=False),
        nn.BatchNorm(),
        nn.Activation("relu"),
        nn.MaxPool2D(2),
        nn.Conv2D(6, 3),
        nn.Activation("relu"),
        nn.GlobalAvgPool2D(),
        nn.Flatten(),
        nn.Dense(5),
    )
    mx.random.seed(3)
    net.initialize(mx.init.Xavier())
    return net


def run_by_onnxruntime(path, x):
    runtime = pytest.importorskip("onnxruntime", reason="needs onnxruntime to run what is exported")
    options = runtime.SessionOptions()
    # fused layers' sums would saturate with AVX2
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    ran = runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return ran.run(None, {ran.get_inputs()[0].name: x})[0]


@pytest.mark.parametrize("opset", [12, 13, 21])
def test_quantized_networks_are_exported(opset, tmp_path):
    net, rng = small_network(), np.random.RandomState(3)
    x = mx.nd.array(rng.uniform(-1, 1, (4, 3, 12, 12)))
    net.hybridize()
    net(x)
    loader = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(x, mx.nd.zeros(4)), batch_size=4)
    quantized = mx.contrib.quantization.quantize_net_v2(
        net, quantized_dtype="auto", calib_data=loader, calib_mode="naive", num_calib_batches=1
    )
    wanted = quantized(x).asnumpy()
    symbol_file, params_file = quantized.export(str(tmp_path / "net"))
    path = str(tmp_path / "net.onnx")
    mx.onnx.export_model(
        str(symbol_file),
        str(params_file),
        [(4, 3, 12, 12)],
        onnx_file_path=path,
        dynamic=True,
        dynamic_input_shapes=[("N", 3, 12, 12)],
        opset_version=opset,
    )
    kinds = {node.op_type for node in onnx.load(path).graph.node}
    assert {"QuantizeLinear", "DequantizeLinear"} <= kinds
    assert opset < 13 or "BatchNormalization" not in kinds  # it is folded into the filters' steps
    actual = run_by_onnxruntime(path, x.asnumpy())
    scale = np.abs(wanted).max()
    assert np.abs(actual - wanted).max() < 0.02 * scale
    again = mx.contrib.onnx.import_to_gluon(path)
    assert np.abs(again(x).asnumpy() - wanted).max() < 0.03 * scale


@pytest.mark.parametrize("calibrated", ["naive", "none"])
def test_quantized_symbols_are_exported(calibrated, tmp_path):
    """The classic operators, with int8 weights among the parameters."""
    rng = np.random.RandomState(3)
    data = mx.sym.var("data")
    y = mx.sym.Convolution(data, kernel=(3, 3), num_filter=6, name="conv")
    y = mx.sym.Pooling(mx.sym.relu(y), kernel=(2, 2), stride=(2, 2), pool_type="max", name="pool")
    y = mx.sym.FullyConnected(y, num_hidden=4, name="fc")
    x = mx.nd.array(rng.uniform(-1, 1, (2, 3, 10, 10)))
    shapes, _, _ = y.infer_shape(data=x.shape)
    args = {
        name: mx.nd.array(rng.uniform(-0.3, 0.3, shape))
        for name, shape in zip(y.list_arguments(), shapes, strict=True)
        if name != "data"
    }
    more = {}
    if calibrated == "naive":
        more = {
            "calib_data": mx.io.NDArrayIter(x, None, batch_size=2, data_name="data"),
            "num_calib_examples": 2,
        }
    symbol, args, states = mx.contrib.quantization.quantize_model(
        y,
        args,
        {},
        data_names=("data",),
        label_names=None,
        ctx=mx.cpu(),
        calib_mode=calibrated,
        **more,
    )
    inputs = {name: args[name] for name in symbol.list_arguments() if name != "data"}
    executor = symbol.bind(mx.cpu(), {**inputs, "data": x}, grad_req="null", aux_states=states)
    wanted = executor.forward()[0].asnumpy()
    path = str(tmp_path / "net.onnx")
    mx.onnx.export_model(symbol, {**args, **states}, [x.shape], onnx_file_path=path)
    actual = run_by_onnxruntime(path, x.asnumpy())
    assert np.abs(actual - wanted).max() < 0.02 * np.abs(wanted).max()
