"""ONNX's integer layers against ONNX Runtime: the same numbers, computed in int8."""

import numpy as np
import pytest

import mxcy as mx
from mxcy._base.dtypes import code_of
from mxcy._library import front

onnx = pytest.importorskip("onnx", reason="the extra 'onnx' is not installed")
runtime = pytest.importorskip("onnxruntime", reason="needs onnxruntime to compare with")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

KINDS = {
    "uint8": TensorProto.UINT8,
    "int8": TensorProto.INT8,
    "int32": TensorProto.INT32,
    "float32": TensorProto.FLOAT,
}


def one_node(op, inputs, kinds, shape, constants, **attrs):
    """A model of one node, whose first input is the graph's own."""
    return model_of([helper.make_node(op, inputs, ["y"], **attrs)], kinds, shape, constants)


def model_of(nodes, kinds, shape, constants):
    """A model from `x` to `y`, with the element types of both."""
    told = [
        helper.make_tensor_value_info(name, KINDS[kind], extents)
        for name, kind, extents in (("x", kinds[0], shape), ("y", kinds[1], None))
    ]
    tensors = [numpy_helper.from_array(np.asarray(v), name) for name, v in constants.items()]
    graph = helper.make_graph(nodes, "g", told[:1], told[1:], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def drawn(rng, kind, shape):
    ends = np.iinfo(kind)
    return rng.integers(ends.min, ends.max + 1, shape).astype(kind)


def of_onnxruntime(model, x):
    options = runtime.SessionOptions()
    if x.dtype != np.int8:  # with AVX2, sums of uint8 times int8 would saturate
        options.add_session_config_entry("session.x64quantprecision", "1")
    session = runtime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, {"x": x})[0]


def compare(model, x, narrowed, monkeypatch, capfd):
    """Check results, and that the layer runs in int8 if the CPU supports it."""
    wanted = of_onnxruntime(model, x)
    assert len(np.unique(wanted)) > 20
    net = mx.contrib.onnx.import_to_gluon(model)
    eager = net(mx.nd.array(x, dtype=x.dtype)).asnumpy()
    monkeypatch.setenv("MXCY_VERBOSE", "passes")
    net.hybridize()
    capfd.readouterr()
    planned = net(mx.nd.array(x, dtype=x.dtype)).asnumpy()
    lines = [t for t in capfd.readouterr().out.splitlines() if "pass int8" in t]
    if front.has_kernel("int8_conv_direct", code_of("uint8")):
        assert any(f"{narrowed} 0 -> 1" in line for line in lines)
    for result in (eager, planned):
        assert result.dtype == wanted.dtype
        if wanted.dtype == np.float32:
            np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-5 * abs(wanted).max())
            continue
        if wanted.dtype == np.int32:
            np.testing.assert_array_equal(result, wanted)
            continue
        distance = np.abs(result.astype(int) - wanted.astype(int))
        assert distance.max() <= 1 and (distance > 0).mean() < 0.005


def quantized_conv(rng, kind, zeros, weight_zero=None, window=None, group=1, bias=True, image=8):
    filters = 16 if group == 1 else image
    shape = (filters, image // group, 3, 3)
    if weight_zero is None:
        weight, weight_zero = rng.integers(-127, 128, shape).astype("int8"), np.zeros(filters, "i1")
        steps = rng.uniform(0.0005, 0.002, filters).astype("float32")
    else:
        weight, steps = drawn(rng, "uint8", shape), np.float32(0.001)
        weight_zero = np.uint8(weight_zero)
    names = ["x", "x_step", "x_zero", "w", "w_step", "w_zero", "y_step", "y_zero"]
    constants = {
        "x_step": np.float32(0.03),
        "x_zero": np.asarray(zeros[0], kind),
        "w": weight,
        "w_step": steps,
        "w_zero": weight_zero,
        "y_step": np.float32(0.021 * np.sqrt(image / group)),
        "y_zero": np.asarray(zeros[1], kind),
    }
    if bias:
        names.append("b")
        constants["b"] = rng.integers(-3000, 3000, filters).astype("int32")
    window = {"pads": [1] * 4, "group": group, **(window or {})}
    shape = ["n", image, 13, 11]
    return one_node("QLinearConv", names, (kind, kind), shape, constants, **window)


@pytest.mark.parametrize(
    "kind, zeros, more",
    [
        ("uint8", (131, 7), {}),
        ("uint8", (0, 0), {"bias": False}),
        ("int8", (-20, 5), {"window": {"strides": [2, 2]}}),
        ("uint8", (255, 255), {"weight_zero": 128}),
        ("uint8", (200, 90), {"window": {"dilations": [2, 2], "pads": [2] * 4}}),
        ("int8", (100, -128), {"group": 40, "image": 40}),
        ("uint8", (9, 90), {"window": {"pads": [0] * 4}, "image": 3}),
    ],
)
def test_convolutions(kind, zeros, more, monkeypatch, capfd):
    rng = np.random.default_rng(3)
    model = quantized_conv(rng, kind, zeros, **more)
    x = drawn(rng, kind, (2, more.get("image", 8), 13, 11))
    compare(model, x, "_int8_conv", monkeypatch, capfd)


def test_weights_of_nine_bits_are_floats():
    rng = np.random.default_rng(4)
    model = quantized_conv(rng, "uint8", (131, 7), weight_zero=20)
    x = drawn(rng, "uint8", (1, 8, 13, 11))
    actual = mx.contrib.onnx.import_to_gluon(model)(mx.nd.array(x, dtype=x.dtype)).asnumpy()
    assert np.abs(actual.astype(int) - of_onnxruntime(model, x).astype(int)).max() <= 1


@pytest.mark.parametrize("kind, zeros", [("uint8", (131, 7)), ("int8", (3, -9))])
@pytest.mark.parametrize("shape", [(5, 70), (2, 3, 70)])
def test_products(kind, zeros, shape, monkeypatch, capfd):
    rng = np.random.default_rng(5)
    names = ["x", "x_step", "x_zero", "w", "w_step", "w_zero", "y_step", "y_zero"]
    constants = {
        "x_step": np.float32(0.03),
        "x_zero": np.asarray(zeros[0], kind),
        "w": rng.integers(-127, 128, (70, 21)).astype("int8"),
        "w_step": np.float32(0.001),
        "w_zero": np.int8(0),
        "y_step": np.float32(0.05),
        "y_zero": np.asarray(zeros[1], kind),
    }
    model = one_node("QLinearMatMul", names, (kind, kind), shape, constants)
    compare(model, drawn(rng, kind, shape), "_int8_dense", monkeypatch, capfd)


@pytest.mark.parametrize("depth, narrowed", [(70, True), (900, False)])
def test_sums_of_products_are_exact(depth, narrowed, monkeypatch, capfd):
    """float32 cannot represent all sums of more than some 500 products."""
    rng = np.random.default_rng(6)
    constants = {"x_zero": np.uint8(77), "w": drawn(rng, "int8", (depth, 21)), "w_zero": np.int8(0)}
    names = ["x", "w", "x_zero", "w_zero"]
    model = one_node("MatMulInteger", names, ("uint8", "int32"), (5, depth), constants)
    name = "_int8_dense" if narrowed else "nothing to do"
    x = drawn(rng, "uint8", (5, depth))
    if narrowed:
        compare(model, x, name, monkeypatch, capfd)
    else:
        found = mx.contrib.onnx.import_to_gluon(model)(mx.nd.array(x, dtype="uint8")).asnumpy()
        np.testing.assert_array_equal(found, of_onnxruntime(model, x))


@pytest.mark.parametrize("window", [{"pads": [1] * 4}, {"strides": [2, 1]}])
def test_sums_of_windows_are_exact(window, monkeypatch, capfd):
    rng = np.random.default_rng(7)
    constants = {"x_zero": np.uint8(77), "w": drawn(rng, "uint8", (16, 8, 3, 3))}
    constants["w_zero"] = np.uint8(128)
    names, kinds = ["x", "w", "x_zero", "w_zero"], ("uint8", "int32")
    model = one_node("ConvInteger", names, kinds, ("n", 8, 13, 11), constants, **window)
    compare(model, drawn(rng, "uint8", (2, 8, 13, 11)), "_int8_conv", monkeypatch, capfd)


@pytest.mark.parametrize("depth", [70, 900])
def test_dynamically_quantized_products(depth, monkeypatch, capfd):
    """Scale and zero point of the data are computed at run time."""
    rng = np.random.default_rng(8)
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "x_step", "x_zero"]),
        helper.make_node("MatMulInteger", ["q", "w", "x_zero", "w_zero"], ["sums"]),
        helper.make_node("Cast", ["sums"], ["floats"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["x_step", "w_step"], ["step"]),
        helper.make_node("Mul", ["floats", "step"], ["y"]),
    ]
    constants = {
        "w": drawn(rng, "int8", (depth, 21)),
        "w_zero": np.zeros(21, "int8"),
        "w_step": rng.uniform(0.001, 0.002, 21).astype("float32"),
    }
    model = model_of(nodes, ("float32", "float32"), ("n", 6, depth), constants)
    x = (rng.normal(size=(2, 6, depth)) + 0.5).astype("float32")
    compare(model, x, "_int8_dense", monkeypatch, capfd)


# --- ONNX Runtime's own operators ----------------------------------------------------------------

STEPS = {
    "x_step": np.float32(0.03),
    "x_zero": np.uint8(120),
    "w_step": np.float32(0.02),
    "w_zero": np.uint8(70),
    "y_step": np.float32(0.04),
    "y_zero": np.uint8(100),
}
ONE, RESULT = ["x", "x_step", "x_zero"], ["y_step", "y_zero"]
TWO = [*ONE, "w", "w_step", "w_zero", *RESULT]


@pytest.mark.parametrize(
    "op, names, more",
    [
        ("QLinearAdd", TWO, {}),
        ("QLinearMul", TWO, {}),
        ("QLinearConcat", [*RESULT, *ONE, "w", "w_step", "w_zero"], {"axis": 1}),
        ("QLinearGlobalAveragePool", [*ONE, *RESULT], {}),
        ("QLinearAveragePool", [*ONE, *RESULT], {"kernel_shape": [2, 2], "pads": [1, 0, 0, 1]}),
        ("QLinearLeakyRelu", [*ONE, *RESULT], {}),
        ("QLinearSigmoid", [*ONE, *RESULT], {}),
    ],
)
def test_operators_of_onnxruntime(op, names, more):
    rng = np.random.default_rng(9)
    constants = {name: value for name, value in STEPS.items() if name in names}
    if op == "QLinearSigmoid":
        constants["y_step"] = np.float32(1 / 200)
    if "w" in names:
        constants["w"] = drawn(rng, "uint8", (1, 6, 5, 7))
    more = {"domain": "com.microsoft", **more}
    model = one_node(op, names, ("uint8", "uint8"), (2, 6, 5, 7), constants, **more)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    if op == "QLinearConcat":  # of one batch
        model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1
    x = drawn(rng, "uint8", [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim])
    found = mx.contrib.onnx.import_to_gluon(model)(mx.nd.array(x, dtype="uint8")).asnumpy()
    wanted = of_onnxruntime(model, x)
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    assert np.abs(found.astype(int) - wanted.astype(int)).max() <= 1
    assert len(np.unique(wanted)) > 5


@pytest.mark.parametrize("transposed", [0, 1])
@pytest.mark.parametrize("kind", ["uint8", "float32"])
def test_dense_layers_of_onnxruntime(transposed, kind, monkeypatch, capfd):
    rng = np.random.default_rng(10)
    weight = rng.integers(-127, 128, (70, 21)).astype("int8")
    constants = {
        **{name: STEPS[name] for name in ("x_step", "x_zero")},
        "w": weight.T.copy() if transposed else weight,
        "w_step": rng.uniform(0.001, 0.002, 21).astype("float32"),
        "w_zero": np.zeros(21, "int8"),
        "b": rng.integers(-3000, 3000, 21).astype("int32"),
    }
    names = [*ONE, "w", "w_step", "w_zero", "b"]
    if kind == "uint8":
        names += RESULT
        constants |= {name: STEPS[name] for name in RESULT}
    more = {"domain": "com.microsoft", "transB": transposed}
    model = one_node("QGemm", names, ("uint8", kind), (5, 70), constants, **more)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    compare(model, drawn(rng, "uint8", (5, 70)), "_int8_dense", monkeypatch, capfd)


@pytest.mark.parametrize("kind", ["uint8", "int8"])
def test_maxima_of_numbers(kind):
    more = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}
    model = one_node("MaxPool", ["x"], (kind, kind), ("n", 4, 9, 8), {}, **more)
    x = drawn(np.random.default_rng(11), kind, (2, 4, 9, 8))
    net = mx.contrib.onnx.import_to_gluon(model)
    for hybrid in (False, True):
        net.hybridize(hybrid)
        found = net(mx.nd.array(x, dtype=kind)).asnumpy()
        np.testing.assert_array_equal(found, of_onnxruntime(model, x))
