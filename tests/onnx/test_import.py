"""mx.contrib.onnx: models as symbols and blocks, and errors of damaged models."""

import json
from pathlib import Path

import numpy as np
import pytest

import mxcy as mx
from mxcy.base import MXNetError

onnx = pytest.importorskip("onnx", reason="the extra 'onnx' is not installed")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from tests.onnx.test_backend import model_of  # noqa: E402

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
rng = np.random.RandomState(0)


def tensor(name, *shape):
    return numpy_helper.from_array(rng.randn(*shape).astype(np.float32), name)


def small_net():
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], "conv", pads=[1] * 4),
        helper.make_node("BatchNormalization", ["c", "g", "h", "m", "v"], ["n"], "norm"),
        helper.make_node("Relu", ["n"], ["r"], "act"),
        helper.make_node("GlobalAveragePool", ["r"], ["p"], "pool"),
        helper.make_node("Flatten", ["p"], ["f"], "flat"),
        helper.make_node("Gemm", ["f", "k", "l"], ["y"], "fc", transB=1),
    ]
    parameters = [
        *(tensor("w", 4, 3, 3, 3), tensor("b", 4), tensor("g", 4), tensor("h", 4), tensor("m", 4)),
        numpy_helper.from_array(np.ones(4, np.float32), "v"),
        *(tensor("k", 5, 4), tensor("l", 5)),
    ]
    return model_of(
        nodes, [("x", FLOAT, ("batch", 3, 8, 8))], [("y", FLOAT, ("batch", 5))], 17, parameters
    )


def expected(model, *inputs):
    from onnx.reference import ReferenceEvaluator

    names = [given.name for given in model.graph.input]
    return ReferenceEvaluator(model).run(None, dict(zip(names, inputs, strict=True)))


def saved(model, tmp_path):
    path = tmp_path / "model.onnx"
    onnx.save(model, str(path))
    return str(path)


def test_import_model_gives_layers_parameters_and_states(tmp_path):
    model = small_net()
    sym, args, aux = mx.contrib.onnx.import_model(saved(model, tmp_path))
    assert sorted(args) == ["b", "g", "h", "k", "l", "w"] and sorted(aux) == ["m", "v"]
    assert sym.list_outputs() == ["fc_output"]
    layers = [node["op"] for node in json.loads(sym.tojson())["nodes"]]
    assert [op for op in layers if op != "null"] == [
        *("Convolution", "BatchNorm", "relu", "Pooling", "Flatten", "FullyConnected")
    ]
    for batch in (1, 3):
        x = rng.randn(batch, 3, 8, 8).astype(np.float32)
        bound = sym.bind(mx.cpu(), {"x": mx.nd.array(x), **args}, aux_states=aux)
        actual = bound.forward()[0].asnumpy()
        np.testing.assert_allclose(actual, expected(model, x)[0], rtol=1e-5, atol=1e-5)


def test_module_trains_an_imported_model(tmp_path):
    sym, args, aux = mx.contrib.onnx.import_model(saved(small_net(), tmp_path))
    module = mx.mod.Module(mx.sym.SoftmaxOutput(sym, name="softmax"), data_names=["x"])
    module.bind([("x", (2, 3, 8, 8))], [("softmax_label", (2,))])
    module.init_params(arg_params=args, aux_params=aux)
    module.init_optimizer()
    batch = mx.io.DataBatch([mx.nd.ones((2, 3, 8, 8))], [mx.nd.array([1, 2])])
    module.forward_backward(batch)
    module.update()
    assert not np.array_equal(module.get_params()[0]["w"].asnumpy(), args["w"].asnumpy())


def test_import_to_gluon_can_be_hybridized(tmp_path):
    model = small_net()
    net = mx.contrib.onnx.import_to_gluon(saved(model, tmp_path), mx.cpu())
    x = rng.randn(2, 3, 8, 8).astype(np.float32)
    for hybrid in (False, True):
        net.hybridize(hybrid)
        actual = net(mx.nd.array(x)).asnumpy()
        np.testing.assert_allclose(actual, expected(model, x)[0], rtol=1e-5, atol=1e-5)


def test_metadata(tmp_path):
    actual = mx.contrib.onnx.get_model_metadata(saved(small_net(), tmp_path))
    assert actual["input_tensor_data"] == [("x", (0, 3, 8, 8), FLOAT)]
    assert actual["output_tensor_data"] == [("y", (0, 5))]


def test_names_of_mxnet():
    from mxcy.contrib.onnx.onnx2mx.import_model import import_model
    from mxcy.contrib.onnx.onnx2mx.import_onnx import GraphProto
    from mxcy.contrib.onnx.onnx2mx.import_to_gluon import import_to_gluon

    model = small_net()
    sym, args, _ = GraphProto().from_onnx(model.graph, opset_version=17)
    assert sym.list_outputs() == ["fc_output"] and "w" in args
    assert import_model is mx.contrib.onnx.import_model
    assert import_to_gluon is mx.contrib.onnx.import_to_gluon
    assert mx.contrib.onnx.onnx2mx.import_onnx.GraphProto is GraphProto


def test_input_values_may_be_passed():
    model = model_of(
        [helper.make_node("Tile", ["x", "times"], ["y"], "tile")],
        [("x", FLOAT, (2,)), ("times", INT64, (1,))],
        [("y", FLOAT, None)],
    )
    with pytest.raises(MXNetError, match="node tile .Tile.*input repeats.*computed from times"):
        mx.contrib.onnx.import_model(model)
    sym, _, _ = mx.contrib.onnx.import_model(model, input_values={"times": np.array([3])})
    assert sym.infer_shape(x=(2,))[1] == [(6,)]


# --- errors --------------------------------------------------------------------------------------


def broken(tmp_path, **changes):
    model = small_net()
    for name, change in changes.items():
        change(model) if callable(change) else setattr(model, name, change)
    return saved(model, tmp_path)


def refused(path, error, match):
    with pytest.raises(error, match=match):
        mx.contrib.onnx.import_model(path)


def test_files_that_are_no_models(tmp_path):
    data = Path(saved(small_net(), tmp_path)).read_bytes()
    for part in (data[: len(data) // 2], b"", b"\xff" * 100):
        (tmp_path / "part.onnx").write_bytes(part)
        refused(str(tmp_path / "part.onnx"), (MXNetError, ValueError), "part.onnx|opset|graph")
    with pytest.raises(FileNotFoundError):
        mx.contrib.onnx.import_model(str(tmp_path / "none.onnx"))


def test_models_without_or_of_future_opsets(tmp_path):
    def without(model):
        del model.opset_import[:]

    refused(broken(tmp_path, c=without), ValueError, "opset_import is empty")

    def future(model):
        model.opset_import[0].version = 999

    refused(broken(tmp_path, c=future), ValueError, "opset 999")


def test_unknown_operators_are_all_named(tmp_path):
    def unknown(model):
        model.graph.node[2].op_type = "Frobnicate"
        model.graph.node[3].op_type = "Mangle"

    match = "^Operator Frobnicate not implemented.*act.*Mangle .node pool"
    refused(broken(tmp_path, c=unknown), NotImplementedError, match)


def test_attributes_of_another_type_or_size(tmp_path):
    def of_type(model):
        attribute = model.graph.node[0].attribute[0]
        attribute.CopyFrom(helper.make_attribute("pads", "much"))

    refused(broken(tmp_path, c=of_type), MXNetError, "node conv .Conv.: attribute pads: expected")

    def of_size(model):
        model.graph.node[0].attribute[0].ints.append(1)

    refused(broken(tmp_path, c=of_size), MXNetError, "node conv .Conv.: attribute pads: got")


def test_inputs_that_nothing_computes(tmp_path):
    def dangling(model):
        model.graph.node[2].input[0] = "nowhere"

    refused(broken(tmp_path, c=dangling), MXNetError, "node act .Relu.: its input 'nowhere'")


def test_tensors_that_do_not_fill_their_shape(tmp_path):
    def huge(model):
        model.graph.initializer[0].dims[0] = 1 << 60

    refused(broken(tmp_path, c=huge), MXNetError, "tensor 'w': shape .* GiB")

    def short(model):
        model.graph.initializer[0].raw_data = b"1234"

    refused(broken(tmp_path, c=short), MXNetError, "tensor 'w': .* there are 4")

    def negative(model):
        model.graph.initializer[0].dims[0] = -4

    refused(broken(tmp_path, c=negative), MXNetError, "tensor 'w': negative")


def outside(location, **more):
    def change(model):
        weights = model.graph.initializer[0]
        weights.ClearField("raw_data")
        weights.data_location = TensorProto.EXTERNAL
        for key, value in {"location": location, **more}.items():
            entry = weights.external_data.add()
            entry.key, entry.value = key, str(value)

    return change


def test_external_data_beside_the_model(tmp_path):
    model = small_net()
    data = model.graph.initializer[0].raw_data
    (tmp_path / "weights.bin").write_bytes(b"head" + data)
    x = rng.randn(1, 3, 8, 8).astype(np.float32)
    wanted = expected(model, x)[0]
    path = broken(tmp_path, c=outside("weights.bin", offset=4, length=len(data)))
    model.graph.initializer[0].raw_data = data
    net = mx.contrib.onnx.import_to_gluon(path)
    np.testing.assert_allclose(net(mx.nd.array(x)).asnumpy()[0].shape, wanted[0].shape)


@pytest.mark.parametrize("location", ["../secret", "/etc/hostname", "", "a/../../secret", "link"])
def test_external_data_outside_the_folder_are_refused(tmp_path, location):
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "secret").write_bytes(bytes(432))
    (folder / "link").symlink_to(tmp_path / "secret")
    refused(broken(folder, c=outside(location)), MXNetError, "'w': external data.*not a file below")


def test_external_data_that_are_too_short(tmp_path):
    (tmp_path / "weights.bin").write_bytes(b"1234")
    refused(broken(tmp_path, c=outside("weights.bin")), MXNetError, "takes 432 bytes")
    wrong = outside("weights.bin", offset=1, length=432)
    refused(broken(tmp_path, c=wrong), MXNetError, "bytes 1 to 433 of 'weights.bin', which has 4")
    refused(broken(tmp_path, c=outside("none.bin")), MXNetError, "file 'none.bin' not found")


def test_endless_functions_end(tmp_path):
    call = helper.make_node("f", ["x"], ["y"], domain="own")
    function = helper.make_function(
        "own", "f", ["x"], ["y"], [call], [helper.make_opsetid("own", 1)]
    )
    graph = helper.make_graph(
        [call],
        "graph",
        [helper.make_tensor_value_info("x", FLOAT, (2,))],
        [helper.make_tensor_value_info("y", FLOAT, (2,))],
    )
    opsets = [helper.make_opsetid("own", 1), helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opsets, functions=[function])
    with pytest.raises(MXNetError, match="too deep"):
        mx.contrib.onnx.import_model(model)


@pytest.mark.parametrize("name", mx.contrib.onnx.__all__)
def test_both_module_paths_have_the_same_functions(name):
    assert getattr(mx.onnx, name) is getattr(mx.contrib.onnx, name)
