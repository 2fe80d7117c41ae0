"""export_model: parameters, errors, and files."""

import os

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="needs onnx to write files")
pytest.importorskip("onnxruntime", reason="needs onnxruntime to run what is exported")

import mxcy as mx  # noqa: E402
from mxcy.onnx.mx2onnx import writing  # noqa: E402
from mxcy.onnx.mx2onnx._export_onnx import MXNetGraph  # noqa: E402
from tests.onnx.battery.operators import session  # noqa: E402


def dense(units=4):
    """A small network and its parameters."""
    data = mx.sym.var("data")
    hidden = mx.sym.FullyConnected(data, num_hidden=units, name="fc")
    out = mx.sym.SoftmaxOutput(hidden, name="softmax")
    params = {"fc_weight": mx.nd.random.normal(shape=(units, 3)), "fc_bias": mx.nd.ones(units)}
    return out, params


def predicted(sym, params, data):
    args = {**params, "data": mx.nd.array(data), "softmax_label": mx.nd.zeros(len(data))}
    return sym.bind(mx.cpu(), args).forward()[0].asnumpy()


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "model.onnx")


def test_parameters_are_constants_and_the_label_is_gone(path):
    sym, params = dense()
    assert mx.onnx.export_model(sym, params, [(2, 3)], np.float32, path) == path
    model = onnx.load(path)
    assert [value.name for value in model.graph.input] == ["data"]
    assert [value.name for value in model.graph.output] == ["softmax"]
    assert {tensor.name for tensor in model.graph.initializer} == {"fc_weight", "fc_bias"}
    assert all(tensor.raw_data for tensor in model.graph.initializer)
    assert model.opset_import[0].version == 17
    data = np.random.default_rng(0).normal(size=(2, 3)).astype(np.float32)
    (actual,) = session(path).run(None, {"data": data})
    np.testing.assert_allclose(actual, predicted(sym, params, data), rtol=1e-5)


@pytest.mark.parametrize("opset", [12, 13, 17, 18, 20, 21])
def test_the_version_is_the_one_asked_for(path, opset):
    sym, params = dense()
    mx.onnx.export_model(sym, params, [(2, 3)], onnx_file_path=path, opset_version=opset)
    assert onnx.load(path).opset_import[0].version == opset


def test_versions_that_nobody_knows(path, caplog):
    sym, params = dense()
    with pytest.raises(ValueError, match="opset_version: expected 12 to"):
        mx.onnx.export_model(sym, params, [(2, 3)], onnx_file_path=path, opset_version=99)
    mx.onnx.export_model(sym, params, [(2, 3)], onnx_file_path=path, opset_version=9)
    assert onnx.load(path).opset_import[0].version == 12
    assert "lower than the lowest" in caplog.text


def test_files_lists_and_prefixes(tmp_path, path):
    sym, params = dense()
    stem = str(tmp_path / "net")
    mx.model.save_checkpoint(stem, 0, sym, params, {})
    files = [f"{stem}-symbol.json", f"{stem}-0000.params"]
    data = np.ones((2, 3), np.float32)
    for given in (files, [sym, [params, {}]], [sym, {f"arg:{n}": x for n, x in params.items()}]):
        mx.onnx.export_model(*given, [(2, 3)], onnx_file_path=path)
        (actual,) = session(path).run(None, {"data": data})
        np.testing.assert_allclose(actual, predicted(sym, params, data), rtol=1e-5)
    with pytest.raises(ValueError, match="should either be files or objects"):
        mx.onnx.export_model(sym, files[1], [(2, 3)], onnx_file_path=path)


def test_older_names_win(path):
    sym, params = dense()
    mx.onnx.export_model(
        sym, params, [(9, 9)], "int8", path, input_shape=[(5, 3)], input_type=[np.float32]
    )
    shape = onnx.load(path).graph.input[0].type.tensor_type.shape
    assert [d.dim_value for d in shape.dim] == [5, 3]


def test_wrong_numbers_of_inputs(path):
    sym, params = dense()
    with pytest.raises(AssertionError, match="must equal"):
        mx.onnx.export_model(sym, params, [(2, 3)], [np.float32] * 2, path)
    with pytest.raises(ValueError, match=r"a shape for each input .*\(data\), got 2"):
        mx.onnx.export_model(sym, params, [(2, 3), (4,)], onnx_file_path=path)
    with pytest.raises(ValueError, match="expected the shapes"):
        mx.onnx.export_model(sym, params, onnx_file_path=path)


def test_free_extents(path):
    sym, params = dense()
    for wanted, names in (([("N", 3)], ["N", ""]), (None, ["", ""]), ([(None, 3)], ["", ""])):
        mx.onnx.export_model(
            sym, params, [(1, 3)], onnx_file_path=path, dynamic=True, dynamic_input_shapes=wanted
        )
        dims = onnx.load(path).graph.input[0].type.tensor_type.shape.dim
        assert [dim.dim_param for dim in dims] == names
        for rows in (1, 3):
            data = np.ones((rows, 3), np.float32)
            (actual,) = session(path).run(None, {"data": data})
            np.testing.assert_allclose(actual, predicted(sym, params, data), rtol=1e-5)
    with pytest.raises(ValueError, match="dynamic_input_shapes"):
        mx.onnx.export_model(
            sym, params, [(1, 3)], onnx_file_path=path, dynamic=True, dynamic_input_shapes=[(1,)]
        )


def test_all_missing_operators_at_once(path):
    data = mx.sym.var("data")
    first = mx.sym.erfinv(data, name="one")
    out = mx.sym.digamma(first + mx.sym.erfinv(data, name="two"), name="three")
    with pytest.raises(AttributeError) as caught:
        mx.onnx.export_model(out, {}, [(2,)], onnx_file_path=path)
    text = str(caught.value)
    assert text.startswith("No conversion function registered for op type erfinv yet.")
    assert "one, two" in text and "digamma: three" in text
    assert not os.path.exists(path)


def test_unsupported_attributes(path):
    out = mx.sym.LRN(mx.sym.var("data"), nsize=4, name="norm")
    with pytest.raises(NotImplementedError, match="operator LRN, node norm: nsize=4"):
        mx.onnx.export_model(out, {}, [(1, 3, 4, 4)], onnx_file_path=path)


def test_shape_inference_is_noted(path):
    sym, params = dense()
    mx.onnx.export_model(sym, params, [(2, 3)], onnx_file_path=path, run_shape_inference=True)
    assert [value.name for value in onnx.load(path).graph.value_info] == ["fc"]


def test_verbose_prints_each_node(path, caplog):
    caplog.set_level("INFO")
    sym, params = dense()
    mx.onnx.export_model(sym, params, [(2, 3)], onnx_file_path=path, verbose=True)
    assert "op: FullyConnected, name: fc" in caplog.text


def test_large_models_have_two_files(tmp_path, path):
    sym, params = dense(units=300)
    mx.onnx.export_model(sym, params, [(2, 3)], onnx_file_path=path, large_model=True)
    assert sorted(os.listdir(tmp_path)) == ["model.onnx", "model.onnx.data"]
    data = np.ones((2, 3), np.float32)
    (actual,) = session(path).run(None, {"data": data})
    np.testing.assert_allclose(actual, predicted(sym, params, data), rtol=1e-5)


def test_they_have_them_by_themselves_above_the_limit(tmp_path, path, monkeypatch):
    monkeypatch.setattr(writing, "MOST_BYTES", 1000)
    sym, params = dense(units=300)
    mx.onnx.export_model(sym, params, [(2, 3)], onnx_file_path=path)
    assert sorted(os.listdir(tmp_path)) == ["model.onnx", "model.onnx.data"]


@pytest.mark.parametrize("large", [False, True])
def test_failed_export_keeps_the_old_file(tmp_path, path, monkeypatch, large):
    with open(path, "w") as file:
        file.write("old")
    sym, params = dense(units=300)

    def refuse(*args, **kwargs):
        raise onnx.checker.ValidationError("refused")

    monkeypatch.setattr(onnx.checker, "check_model", refuse)
    with pytest.raises(onnx.checker.ValidationError):
        mx.onnx.export_model(sym, params, [(2, 3)], onnx_file_path=path, large_model=large)
    assert os.listdir(tmp_path) == ["model.onnx"]
    with open(path) as file:
        assert file.read() == "old"


def test_users_converters(path):
    @MXNetGraph.register("digamma", opset_version=13)
    def convert(node, **kwargs):
        (source, index, *_) = node["inputs"][0]
        number = onnx.numpy_helper.from_array(np.float32(3), "three")
        kwargs["initializer"].append(number)
        name = kwargs["outputs_lookup"][source][index].name
        return [onnx.helper.make_node("Mul", [name, "three"], [node["name"]], name=node["name"])]

    try:
        assert "digamma" in mx.onnx.get_operator_support(13)
        assert "digamma" not in mx.onnx.get_operator_support(12)
        out = mx.sym.exp(mx.sym.digamma(mx.sym.var("data") + 1, name="mine"), name="out")
        mx.onnx.export_model(out, {}, [(2,)], onnx_file_path=path)
    finally:
        MXNetGraph.registry_.clear()
    (actual,) = session(path).run(None, {"data": np.array([0, 1], np.float32)})
    np.testing.assert_allclose(actual, np.exp([3, 6]), rtol=1e-6)


def test_operator_support_has_what_mxnet_2_exports():
    names = mx.onnx.get_operator_support()
    assert names == sorted(set(names))
    assert {"null", "Convolution", "identity", "_npi_add", "_npx_reshape", "RNN"} <= set(names)
    assert len(names) > 500


def test_ids_beyond_an_embedding_are_clipped_if_wanted(path):
    out = mx.sym.Embedding(mx.sym.var("data"), input_dim=4, output_dim=2, name="rows")
    params = {"rows_weight": mx.nd.arange(8).reshape((4, 2))}
    ids = np.array([1, 9], np.float32)
    mx.onnx.export_model(out, params, [(2,)], onnx_file_path=path, safe_indices=True)
    (actual,) = session(path).run(None, {"data": ids})
    np.testing.assert_array_equal(actual, [[2, 3], [6, 7]])


def test_outputs_that_are_inputs_constants_or_the_same_twice(path):
    data, weight = mx.sym.var("data"), mx.sym.var("weight")
    double = data * 2
    out = mx.sym.Group([data, weight, double, double])
    mx.onnx.export_model(out, {"weight": mx.nd.ones(3)}, [(2,)], onnx_file_path=path)
    actual = session(path).run(None, {"data": np.array([1, 2], np.float32)})
    assert [list(x) for x in actual] == [[1, 2], [1, 1, 1], [2, 4], [2, 4]]


def test_without_onnx(run_python):
    code = (
        "import sys; sys.modules['onnx'] = None\n"
        "import mxcy as mx\n"
        "try:\n"
        "    mx.onnx.export_model(mx.sym.var('x') + 1, {}, [(2,)])\n"
        "except ImportError as error:\n"
        "    print(error)"
    )
    assert "pip install 'mxcy[onnx]'" in run_python(code)


@pytest.mark.parametrize("name", ["gammaln", "gamma"])
def test_gamma_functions_beyond_their_samples(path, name):
    runtime = pytest.importorskip("onnxruntime", reason="needs onnxruntime to compare with")
    x = np.concatenate(
        [np.linspace(-5.3, 12, 200), [0, 1, 2, -1, 0.5, 8, 30, 1e30, np.inf, np.nan]]
    ).astype("float32")
    mx.onnx.export_model(getattr(mx.sym, name)(mx.sym.var("x")), {}, [x.shape], onnx_file_path=path)
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    wanted = getattr(mx.nd, name)(mx.nd.array(x)).asnumpy()
    np.testing.assert_allclose(session.run(None, {"x": x})[0], wanted, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("opset", [12, 13, 18])
@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize("axis, keepdims", [(None, False), (1, True), ((0, 2), False)])
def test_products_of_integers_wrap_around(path, opset, kind, axis, keepdims):
    x = np.random.default_rng(0).integers(1000, 5000, (3, 5, 4)).astype(kind) | 1
    symbol = mx.sym.prod(mx.sym.var("x"), axis=axis, keepdims=keepdims)
    mx.onnx.export_model(symbol, {}, [x.shape], x.dtype, path, opset_version=opset)
    wanted = np.prod(x, axis=axis, dtype=kind, keepdims=keepdims)
    np.testing.assert_array_equal(session(path).run(None, {"x": x})[0], np.atleast_1d(wanted))
