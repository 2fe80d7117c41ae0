"""Control flow in symbols, against the same loops over arrays."""

import json

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd
from mxcy.base import MXNetError

S, nd = mx.sym, mx.nd
RNG = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def fresh_names():
    with mx.name.NameManager():
        yield


def array(*shape):
    return nd.array(RNG.uniform(-1, 1, shape).astype("float32"))


def check(symbol, arrays, expected):
    """Outputs of the symbol and of the symbol read from its file."""
    for one in (symbol, S.load_json(symbol.tojson())):
        for ours, other in zip(one.eval(**arrays), expected, strict=True):
            np.testing.assert_allclose(ours.asnumpy(), other.asnumpy(), rtol=1e-5, atol=1e-6)


def recurrent(F, weight, factor):
    def body(element, states):
        state = F.tanh(F.FullyConnected(element + states[0], weight, no_bias=True, num_hidden=4))
        return [state * factor, F.sum(state, axis=1)], [state]

    return body


def test_foreach():
    names = ["data", "state", "weight", "factor"]
    arrays = dict(zip(names, [array(5, 2, 4), array(2, 4), array(4, 4), array(2, 4)], strict=True))
    data, state, weight, factor = map(S.var, names)
    outs, states = S.contrib.foreach(recurrent(S, weight, S.exp(factor)), data, [state])
    symbol = S.Group([*outs, *states])
    assert symbol.list_arguments() == ["data", "state", "weight", "factor"]
    shapes, actual, _ = symbol.infer_shape(data=(5, 2, 4), factor=(2, 4))
    assert dict(zip(symbol.list_arguments(), shapes, strict=True))["weight"] == (4, 4)
    assert actual == [(5, 2, 4), (5, 2), (2, 4)]
    assert outs[0].name == "_foreach0" and outs[0].attr("num_args") == "5"
    assert "body" not in outs[0].list_attr() and "body" not in outs[0].debug_str()
    a = arrays
    eager, after = nd.contrib.foreach(
        recurrent(nd, a["weight"], nd.exp(a["factor"])), a["data"], [a["state"]]
    )
    check(symbol, arrays, [*eager, *after])


def test_gradients_of_foreach():
    names = ["data", "state", "weight", "factor"]
    arrays = dict(zip(names, [array(3, 2, 4), array(2, 4), array(4, 4), array(2, 4)], strict=True))
    data, state, weight, factor = map(S.var, names)
    outs, _ = S.contrib.foreach(recurrent(S, weight, factor), data, [state])
    gradients = {name: nd.zeros_like(a) for name, a in arrays.items()}
    executor = S.sum(outs[0]).bind(mx.cpu(), arrays, gradients)
    executor.forward(is_train=True)
    executor.backward(nd.ones(1))
    eager = {name: a.copy() for name, a in arrays.items()}
    for a in eager.values():
        a.attach_grad()
    with autograd.record():
        outs, _ = nd.contrib.foreach(
            recurrent(nd, eager["weight"], eager["factor"]), eager["data"], [eager["state"]]
        )
        total = nd.sum(outs[0])
    total.backward()
    for name, a in eager.items():
        ours, other = gradients[name].asnumpy(), a.grad.asnumpy()
        np.testing.assert_allclose(ours, other, rtol=1e-4, atol=1e-5, err_msg=name)


def test_variables_made_inside_and_nested_loops():
    def outer(row, total):
        def inner(x, s):
            return x * 2, s + x

        doubled, s = S.contrib.foreach(inner, row, S.sum(total))
        return S.FullyConnected(S.reshape(doubled, (1, -1)), num_hidden=2, name="in"), s

    data = S.var("data")
    outs, total = S.contrib.foreach(outer, data, S.var("zero"))
    symbol = S.Group([outs, total])
    assert symbol.list_arguments() == ["data", "zero", "in_weight", "in_bias"]
    a = {"data": array(3, 4), "zero": nd.zeros((1,)), "in_weight": array(2, 4), "in_bias": array(2)}
    dense = nd.dot(a["data"] * 2, a["in_weight"], transpose_b=True) + a["in_bias"]
    check(symbol, a, [dense.reshape((3, 1, 2)), nd.sum(a["data"])])


def test_while_loop():
    def run(F, i, total, step):
        return F.contrib.while_loop(
            lambda i, total: i <= 5,
            lambda i, total: ([total * 2], [i + step, total + i]),
            [i, total],
            max_iterations=10,
        )

    outs, variables = run(S, S.var("i"), S.var("total"), S.var("step"))
    arrays = {"i": nd.array([1]), "total": nd.array([0]), "step": nd.array([1])}
    eager, after = run(nd, *arrays.values())
    rows = nd.concat(eager[0][:5], nd.zeros((5, 1)), dim=0)  # zeros after the end
    check(S.Group([*outs, *variables]), arrays, [rows, *after])
    assert variables[0].infer_shape(i=(1,), step=(1,))[1] == [(1,)]
    with pytest.raises(ValueError, match="max_iterations"):
        S.contrib.while_loop(lambda i: i < 1, lambda i: ([], [i]), [S.var("i")])
    with pytest.raises(ValueError, match="loop_vars"):
        S.contrib.while_loop(lambda: 1, lambda: ([], []), [], max_iterations=2)


@pytest.mark.parametrize("flag", [0, 1])
def test_cond(flag):
    a, b = S.var("a"), S.var("b")
    outer = S.exp(b)
    made = S.contrib.cond(S.sum(a) > 0, lambda: [a + b, outer * 2], lambda: [a - b, outer])
    arrays = {"a": nd.array([[1, 2]]) * (1 if flag else -1), "b": array(1, 2)}
    x, y = arrays.values()
    expected = [x + y, nd.exp(y) * 2] if flag else [x - y, nd.exp(y)]
    check(S.Group(made), arrays, expected)


@pytest.mark.parametrize("flag", [0, 1])
def test_branches_share_variables_by_name(flag):
    made = S.contrib.cond(S.var("p"), lambda: S.var("a") * 2, lambda: S.var("a") * S.var("b"))
    assert made.list_arguments() == ["p", "a", "b"]
    arrays = {"p": nd.array([flag]), "a": array(1, 2), "b": array(1, 2)}
    check(made, arrays, [arrays["a"] * (2 if flag else arrays["b"])])


def test_files_keep_subgraphs_apart():
    outs, _ = S.contrib.foreach(lambda x, s: (x + s, s), S.var("data"), S.var("state"))
    (node,) = (n for n in json.loads(outs.tojson())["nodes"] if n["op"] == "_foreach")
    (subgraph,) = node["subgraphs"]
    assert sorted(subgraph) == ["arg_nodes", "heads", "node_row_ptr", "nodes"]
    assert node["attrs"]["in_data_locs"] == "(0,)" and "body" not in node["attrs"]
    for broken in ([], [3], [{}]):
        content = json.loads(outs.tojson())
        next(n for n in content["nodes"] if n["op"] == "_foreach")["subgraphs"] = broken
        with pytest.raises(MXNetError):
            S.load_json(json.dumps(content))


def test_refusals():
    data, state = S.var("data"), S.var("state")
    with pytest.raises(AssertionError, match="format"):
        S.contrib.foreach(lambda x, s: (x, [s, s]), data, [state])
    with pytest.raises(AssertionError, match="used"):
        S.contrib.foreach(lambda x, s: (s, s), data, state)
    for bad in (3, [3]):
        for error in (TypeError, AssertionError):  # ours, MXNet's
            with pytest.raises(error, match="data must be a Symbol"):
                S.contrib.foreach(lambda x, s: (x, s), bad, state)
    with pytest.raises(ValueError, match="the result of cond must be a Symbol"):
        S.contrib.while_loop(lambda i: 3, lambda i: (i, i + 1), state, max_iterations=2)
    with pytest.raises(ValueError, match="different format"):
        S.contrib.while_loop(lambda i: i, lambda i: (i, [i, i]), state, max_iterations=2)
    with pytest.raises(ValueError, match="different format"):
        S.contrib.cond(data, lambda: [data, state], lambda: [state])
    outs, _ = S.contrib.foreach(lambda x, s: (x + s, s), data, state)
    with pytest.raises(MXNetError, match="no elements"), mx.np_shape():
        outs.eval(data=nd.zeros((0, 2)), state=nd.zeros((2,)))
    with pytest.raises(MXNetError):
        outs.infer_shape(data=(3, 2), state=(4,))


class Recurrent(mx.gluon.HybridBlock):
    """A layer that runs along the first axis."""

    def __init__(self):
        super().__init__()
        self.dense = mx.gluon.nn.Dense(4, flatten=False, in_units=4)

    def hybrid_forward(self, F, data, state):
        def body(element, states):
            state = F.tanh(self.dense(element + states[0]))
            return state * 2, [state]

        outs, states = F.contrib.foreach(body, data, [state])
        return outs, states[0]


@pytest.mark.parametrize("flags", [{}, {"is_dynamic": True}, {"static_alloc": True}])
def test_hybridized_loops(flags, tmp_path):
    block = Recurrent()
    block.initialize()
    data, state = array(3, 2, 4), array(2, 4)
    collected = []
    for active in (False, True):
        block.hybridize(active, **flags)
        with autograd.record():
            outs, last = block(data, state)
            total = (outs * outs).sum() + last.sum()
        total.backward()
        collected.append([outs, last, block.dense.weight.grad().copy()])
    for ours, other in zip(*collected, strict=True):
        np.testing.assert_allclose(ours.asnumpy(), other.asnumpy(), rtol=1e-5, atol=1e-6)
    block.export(str(tmp_path / "x"))
    files = [str(tmp_path / name) for name in ("x-symbol.json", "x-0000.params")]
    again = mx.gluon.SymbolBlock.imports(files[0], ["data0", "data1"], files[1])
    np.testing.assert_allclose(again(data, state)[0].asnumpy(), outs.asnumpy(), rtol=1e-5)
