"""Quantized ONNX models: between symmetric steps layers compute with numbers of 8 bits."""

import json

import numpy as np
import pytest

import mxcy as mx

onnx = pytest.importorskip("onnx", reason="the extra 'onnx' is not installed")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

from tests.onnx.test_backend import model_of  # noqa: E402

rng = np.random.RandomState(3)


def quantized_layer(kind, zero):
    """A convolution between quantized arrays; (model, operators it should have)."""
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


@pytest.mark.parametrize("kind, zero", [("int8", 0), ("uint8", 0), ("int8", 3)])
def test_results_are_at_most_a_step_from_onnx_own(kind, zero):
    model = quantized_layer(kind, zero)
    x = rng.randn(2, 3, 8, 8).astype(np.float32)
    wanted = ReferenceEvaluator(model).run(None, {"x": x})[0]
    sym, _, _ = mx.contrib.onnx.import_model(model)
    operators = [node["op"] for node in json.loads(sym.tojson())["nodes"]]
    assert operators.count("_contrib_quantize_v2") == (1 if zero else 2)
    net = mx.contrib.onnx.import_to_gluon(model)
    for hybrid in (False, True):
        net.hybridize(hybrid)
        steps = np.abs(net(mx.nd.array(x)).asnumpy() - wanted) / 0.25
        assert steps.max() < 1.01 and np.mean(steps > 0.5) < 0.02
