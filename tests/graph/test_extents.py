"""Operators whose attributes are computed from dimensions."""

import pytest

import mxcy as mx
from mxcy.base import MXNetError
from mxcy.graph.extents import BY_EXTENTS, evaluated, postfix
from mxcy.graph.node import SymbolNode


@pytest.mark.parametrize(
    "expression, wanted",
    [
        (7, 7),
        ("0.1 12 *", 36),
        ("0.0 1.0 + 2 /", 3),
        ("0.1 0.0 -", 1),
        ("0.1 2 %", 1),
        ("0.1 2 max 1.0 min", 3),
        ("-3", -3),
        ("0.2 5 *", None),
    ],
)
def test_expressions(expression, wanted):
    assert evaluated(expression, [(2, 3, -1), (5,)]) == wanted


def test_formulas_become_text():
    tree = ("*", ("-", "N", 2), "T")
    assert postfix(tree, {"N": (0, 0), "T": (1, 1)}) == "0.0 2 - 1.1 *"
    assert evaluated(postfix(tree, {"N": (0, 0), "T": (1, 1)}), [(5,), (4, 6)]) == 18


@pytest.mark.parametrize(
    "expression, match",
    [
        ("0.0 *", "two operands"),
        ("0.0 0.0", "one result"),
        ("", "one result"),
        ("2.0", "no input 2"),
        ("0.9", "input 0 has shape"),
        ("x", "neither a number"),
        ("0.0 0 /", "division by 0"),
        ("0.0 __import__", "neither"),
        ("4611686018427387000 9 *", "62 bits"),
        ("9" * 30, "neither"),
    ],
)
def test_wrong_expressions(expression, match):
    with pytest.raises(MXNetError, match=match):
        evaluated(expression, [(2, 3), (5,)])


def halves(
    attrs='{"begin": [0], "end": [{"extent": "0.0 2 /"}]}', results='[[[-1, 3], "float32"]]'
):
    """The first half of the rows."""
    node = SymbolNode(
        BY_EXTENTS,
        "half",
        {
            "operator": "slice",
            "attrs": attrs,
            "results": results,
            "num_inputs": "1",
            "num_outputs": "1",
            "num_args": "1",
        },
        [(mx.sym.var("x")._entries[0][0], 0)],
    )
    return mx.sym.Symbol([(node, 0)])


def test_shapes_follow_and_gradients_flow():
    sym = mx.sym.load_json((halves() * 2).tojson())
    for rows in (2, 6):
        assert sym.infer_shape(x=(rows, 3))[1] == [(rows // 2, 3)]
        executor = sym.simple_bind(mx.cpu(), x=(rows, 3))
        executor.arg_dict["x"][:] = 1.5
        assert (executor.forward(is_train=True)[0].asnumpy() == 3).all()
        executor.backward(mx.nd.ones((rows // 2, 3)))
        assert executor.grad_dict["x"].asnumpy().sum() == rows // 2 * 3 * 2
    assert sym.infer_shape_partial()[1] == [()]


@pytest.mark.parametrize(
    "attrs, match",
    [
        ("{", "not valid JSON"),
        ("[1]", "expected an object"),
        ('{"begin": [0], "end": [{"extent": "5.0"}]}', "no input 5"),
        ('{"begin": [0], "ends": [1]}', "ends"),
    ],
)
def test_wrong_attributes(attrs, match):
    with pytest.raises(MXNetError, match=match):
        halves(attrs).infer_shape(x=(4, 3))
