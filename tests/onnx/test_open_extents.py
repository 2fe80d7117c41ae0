"""Models with dynamic dimensions: each call computes shapes from those of its inputs."""

import numpy as np
import pytest

import mxcy as mx

onnx = pytest.importorskip("onnx", reason="the extra 'onnx' is not installed")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

from tests.onnx.test_backend import model_of  # noqa: E402

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def reshaping(*between, target):
    """A model that reshapes (n, 3, 4) to a shape that `between` computes from n."""
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "zero"], ["n"]),
        *between,
        helper.make_node("Concat", target, ["target"], axis=0),
        helper.make_node("Reshape", ["x", "target"], ["y"]),
    ]
    parameters = [
        numpy_helper.from_array(np.array([value]), name)
        for name, value in (("zero", 0), ("rest", -1), ("one", 1), ("two", 2))
    ]
    return model_of(nodes, [("x", FLOAT, ("n", 3, 4))], [("y", FLOAT, None)], 17, parameters)


def test_shape_arithmetic_leaves_no_nodes_and_batches_open():
    sym, args, _ = mx.contrib.onnx.import_model(reshaping(target=["n", "rest"]))
    assert not args and len(sym.get_internals().list_outputs()) == 2
    for n in (1, 5):
        assert sym.infer_shape(x=(n, 3, 4))[1] == [(n, 12)]
    sym, _, _ = mx.contrib.onnx.import_model(reshaping(target=["n", "rest"]), {"x": (6, 3, 4)})
    assert len(sym.get_internals().list_outputs()) == 2


def like_onnx(model, *shapes):
    """Import a model once, run it on several shapes, and compare with ONNX."""
    net = mx.contrib.onnx.import_to_gluon(model)
    for hybrid in (False, True):
        net.hybridize(hybrid)
        for shape in shapes:
            x = np.random.RandomState(0).randn(*shape).astype(np.float32)
            (wanted,) = ReferenceEvaluator(model).run(None, {"x": x})
            actual = net(mx.nd.array(x)).asnumpy()
            assert actual.shape == wanted.shape
            np.testing.assert_allclose(actual, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("sign", ["Add", "Sub", "Mul", "Div", "Min", "Max", "Mod"])
def test_shapes_are_reckoned_at_every_call(sign):
    between = helper.make_node(sign, ["n", "two"], ["m"])
    if sign == "Mod":
        target = ["one", "m", "rest"]  # even ones make this 0, which copies
        return like_onnx(reshaping(between, target=target), (3, 3, 4), (5, 3, 4))
    like_onnx(reshaping(between, target=["m", "rest"]), (4, 3, 4), (6, 3, 4))


def test_formulas_of_several_extents():
    nodes = [
        helper.make_node("Mul", ["n", "two"], ["m"]),
        helper.make_node("Div", ["m", "two"], ["back"]),
        helper.make_node("Sub", ["m", "back"], ["also"]),
    ]
    model = reshaping(*nodes, target=["also", "rest"])
    like_onnx(model, (4, 3, 4), (5, 3, 4))
    sym, _, _ = mx.contrib.onnx.import_model(model)
    assert "_by_extents" in sym.tojson()
    model = reshaping(*nodes[:2], target=["back", "rest"])  # these cancel out
    assert "_by_extents" not in mx.contrib.onnx.import_model(model)[0].tojson()


def of_extents(*nodes, shape=("n", 3)):
    """A model from x to y whose nodes use x's dimensions s, n and c."""
    told = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Split", ["s"], ["n", "c"], num_outputs=2),
        helper.make_node("Squeeze", ["n"], ["n0"]),
    ]
    parameters = [
        numpy_helper.from_array(np.array(value), name)
        for name, value in (("zero", 0), ("one", 1), ("ones", [1]), ("nought", [0]), ("less", -1))
    ]
    inputs = [("x", FLOAT, shape)]
    return model_of([*told, *nodes], inputs, [("y", FLOAT, None)], 18, parameters)


node = helper.make_node
CASES = {
    "range": [
        node("Range", ["zero", "n0", "one"], ["r"]),
        node("Cast", ["r"], ["f"], to=FLOAT),
        node("Unsqueeze", ["f", "ones"], ["u"]),
        node("Add", ["x", "u"], ["y"]),
    ],
    "expand": [node("ReduceSum", ["x", "nought"], ["t"]), node("Expand", ["t", "s"], ["y"])],
    "expand by a mask of shapes": [
        node("Equal", ["s", "less"], ["e"]),
        node("ConstantOfShape", ["e2"], ["o"], value=helper.make_tensor("", INT64, (1,), [1])),
        node("Where", ["e", "o", "s"], ["w"]),
        node("ReduceSum", ["x", "nought"], ["t"]),
        node("Expand", ["t", "w"], ["y"]),
    ],
    "slice": [
        node("Sub", ["n", "ones"], ["end"]),
        node("Slice", ["x", "nought", "end", "nought"], ["y"]),
    ],
    "slice from behind": [
        node("Neg", ["ones"], ["start"]),
        node("Slice", ["x", "start", "n", "nought"], ["y"]),
    ],
    "split": [
        node("Sub", ["n", "ones"], ["m"]),
        node("Concat", ["m", "ones"], ["parts"], axis=0),
        node("Split", ["x", "parts"], ["p", "q"]),
        node("Add", ["p", "q"], ["y"]),
    ],
    "tile": [node("Concat", ["ones", "n"], ["times"], axis=0), node("Tile", ["x", "times"], ["y"])],
    "the largest": [
        node("Sub", ["n", "ones"], ["k"]),
        node("TopK", ["x", "k"], ["y", "places"], axis=0),
    ],
    "extents as numbers": [
        node("Cast", ["n0"], ["f"], to=FLOAT),
        node("Sqrt", ["f"], ["g"]),
        node("Div", ["x", "g"], ["y"]),
    ],
    "how many": [
        node("ReduceProd", ["s"], ["p"], keepdims=0),
        node("Size", ["x"], ["q"]),
        node("Add", ["p", "q"], ["r"]),
        node("Cast", ["r"], ["f"], to=FLOAT),
        node("Add", ["x", "f"], ["y"]),
    ],
    "filled": [
        node("Add", ["s", "s"], ["t"]),
        node("ConstantOfShape", ["t"], ["y"], value=helper.make_tensor("", FLOAT, (1,), [2.5])),
    ],
    "taken along": [
        node("TopK", ["x", "ones"], ["top", "places"], axis=0, largest=0),
        node("Expand", ["places", "s"], ["whole"]),
        node("GatherElements", ["x", "whole"], ["y"], axis=0),
    ],
    "scattered": [
        node("Range", ["zero", "n0", "one"], ["r"]),
        node("Unsqueeze", ["r", "ones"], ["u"]),
        node("Exp", ["x"], ["e"]),
        node("ScatterND", ["x", "u", "e"], ["y"]),
    ],
    "triangles": [
        node("Transpose", ["x"], ["t"]),
        node("MatMul", ["x", "t"], ["square"]),
        node("Trilu", ["square"], ["u"], upper=1),
        node("Trilu", ["square", "less"], ["l"], upper=0),
        node("Add", ["u", "l"], ["y"]),
    ],
    "padded": [
        node("Concat", ["nought", "nought", "n", "ones"], ["pads"], axis=0),
        node("Pad", ["x", "pads"], ["y"]),
    ],
    "the last": [node("Sub", ["n0", "one"], ["last"]), node("Gather", ["x", "last"], ["y"])],
}


@pytest.mark.parametrize("name", CASES)
def test_operators_of_open_extents(name):
    model = of_extents(*CASES[name])
    if name == "expand by a mask of shapes":
        two = numpy_helper.from_array(np.array([2]), "e2")
        model.graph.initializer.append(two)
    like_onnx(model, (3, 3), (2, 3), (7, 3))


@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("kind", ["half_pixel", "asymmetric", "align_corners"])
@pytest.mark.parametrize("scale", [2.0, 1.5, 0.5])
def test_images_of_open_sizes(mode, kind, scale):
    scales = numpy_helper.from_array(np.array([1, 1, scale, scale], np.float32), "scales")
    resize = helper.make_node(
        "Resize", ["x", "", "scales"], ["y"], mode=mode, coordinate_transformation_mode=kind
    )
    told = [("x", FLOAT, ("n", 2, "h", "w"))], [("y", FLOAT, None)]
    like_onnx(model_of([resize], *told, 18, [scales]), (1, 2, 4, 6), (2, 2, 8, 10))


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_blocks_of_open_images(mode):
    nodes = [
        helper.make_node("DepthToSpace", ["x"], ["d"], blocksize=2, mode=mode),
        helper.make_node("Exp", ["d"], ["e"]),
        helper.make_node("SpaceToDepth", ["e"], ["y"], blocksize=2),
    ]
    told = [("x", FLOAT, ("n", 8, "h", "w"))], [("y", FLOAT, None)]
    like_onnx(model_of(nodes, *told, 17), (1, 8, 2, 3), (2, 8, 4, 1))


def test_boxes_are_selected_while_the_graph_runs():
    nodes = [
        helper.make_node("Abs", ["x"], ["boxes"]),
        helper.make_node("ReduceMax", ["x", "axes"], ["s"], keepdims=0),
        helper.make_node("Unsqueeze", ["s", "one"], ["scores"]),
        helper.make_node("NonMaxSuppression", ["boxes", "scores", "most", "iou"], ["found"]),
        helper.make_node("Cast", ["found"], ["y"], to=FLOAT),
    ]
    parameters = [
        numpy_helper.from_array(np.array(value), name)
        for name, value in (
            ("axes", [2]),
            ("one", [1]),
            ("most", [3]),
            ("iou", np.array([0.3], np.float32)),
        )
    ]
    told = [("x", FLOAT, ("n", "boxes_", 4))], [("y", FLOAT, None)]
    like_onnx(model_of(nodes, *told, 18, parameters), (1, 5, 4), (2, 9, 4))


@pytest.mark.parametrize("ordered", [0, 1])
def test_distinct_numbers_while_the_graph_runs(ordered):
    nodes = [
        helper.make_node("Round", ["x"], ["r"]),
        helper.make_node("Unique", ["r"], ["v", "first", "back", "counts"], sorted=ordered),
        helper.make_node("Gather", ["v", "back"], ["g"]),
        helper.make_node("Concat", ["first", "counts"], ["i"], axis=0),
        helper.make_node("Cast", ["i"], ["f"], to=FLOAT),
        helper.make_node("Concat", ["v", "g", "f"], ["y"], axis=0),
    ]
    told = [("x", FLOAT, ("n",))], [("y", FLOAT, None)]
    like_onnx(model_of(nodes, *told, 18), (9,), (20,))


def test_constants_of_open_extents():
    nodes = [
        helper.make_node("Shape", ["x"], ["s"], end=1),
        helper.make_node("Concat", ["two", "s"], ["t"], axis=0),
        helper.make_node(
            "ConstantOfShape", ["t"], ["y"], value=helper.make_tensor("", FLOAT, (1,), [2.5])
        ),
    ]
    parameters = [numpy_helper.from_array(np.array([2]), "two")]
    model = model_of(nodes, [("x", FLOAT, ("n", 3))], [("y", FLOAT, (2, "n"))], 17, parameters)
    net = mx.contrib.onnx.import_to_gluon(model)
    for n in (1, 4):
        actual = net(mx.nd.full((n, 3), np.nan)).asnumpy()
        np.testing.assert_array_equal(actual, np.full((2, n), 2.5, np.float32))


def test_pooling_with_uneven_padding_keeps_the_batch_open():
    windows = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [0, 0, 1, 1]}
    node = helper.make_node("MaxPool", ["x"], ["y"], **windows)
    model = model_of([node], [("x", FLOAT, ("n", 2, 55, 8))], [("y", FLOAT, None)], 17, [])
    like_onnx(model, (1, 2, 55, 8), (3, 2, 55, 8))
