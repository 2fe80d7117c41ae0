"""Branches and loops in `forward`: they become nodes of graphs and files."""

import json
from collections import defaultdict

import numpy as onp
import pytest

import mxcy as mx
from mxcy import _deferred_compute as deferred
from mxcy import autograd, gluon
from mxcy.attribute import AttrScope

np, npx = mx.np, mx.npx


@pytest.fixture(autouse=True)
def numpy_semantics():
    npx.set_np()
    yield
    npx.reset_np()


@pytest.fixture
def counted():
    before, AttrScope._subgraph_names = AttrScope._subgraph_names, defaultdict(int)
    yield
    AttrScope._subgraph_names = before


class Block(gluon.HybridBlock):
    """Computes a function of arrays."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *arrays):
        return self.function(*arrays)


def with_gradient(block, values):
    x = np.array(values)
    x.attach_grad()
    with autograd.record():
        y = block(x)
    y.backward()
    return y.tolist(), x.grad.tolist()


def operators(block):
    nodes = json.loads(block.export(None)[0].tojson())["nodes"]
    return [node["op"] for node in nodes if node["op"] != "null"]


class Branches(gluon.HybridBlock):
    def __init__(self):
        super().__init__()
        self.inside, self.after = (gluon.nn.Dense(2, in_units=2) for _ in range(2))

    def forward(self, x):
        outside = x + 3
        (y,) = npx.cond(
            lambda a: a.sum() > 0, lambda a: [self.inside(a) * outside], lambda a: [a * 2], x
        )
        return self.after(y)


def test_a_branch_is_a_node_and_its_parameters_are_the_blocks(tmp_path):
    blocks = [Branches(), Branches()]
    for block in blocks:
        block.initialize(mx.init.One())
    blocks[1].hybridize()
    for values in ([[-1.0, -3.0]], [[1.0, 2.0]]):
        expected, actual = (with_gradient(block, values) for block in blocks)
        assert actual == expected
    for plain, hybrid in zip(*(b.collect_params().values() for b in blocks), strict=True):
        assert plain.grad().tolist() == hybrid.grad().tolist()
    assert "_cond" in operators(blocks[1])
    files = blocks[1].export(str(tmp_path / "branches"))
    loaded = gluon.SymbolBlock.imports(files[0], ["data"], files[1])
    for values in ([[1.0, 2.0]], [[-1.0, -3.0]]):
        assert loaded(np.array(values)).tolist() == blocks[0](np.array(values)).tolist()


@pytest.mark.parametrize("hybrid", [False, True])
def test_gradients_of_branches_not_taken_do_not_matter(hybrid):
    block = Block(lambda x: npx.cond(lambda a: a.min() > 0, np.sqrt, lambda a: a * 2, x))
    if hybrid:
        block.hybridize()
    assert with_gradient(block, [-1.0, -4.0]) == ([-2, -8], [2, 2])
    assert with_gradient(block, [0.25, 4.0]) == ([0.5, 2], [1, 0.25])


def test_branches_in_branches_and_in_loops(counted):
    def inner(x, more):
        return npx.cond(lambda a: a.max() > 4, lambda a: a * more, lambda a: a + more, x, name="in")

    def compute(x):
        more = x.sum()
        y = npx.cond(lambda a: a.sum() > 0, lambda a: inner(a, more), lambda a: -a, x, name="out")
        return npx.foreach(lambda row, state: (inner(row, state), state + 1), y, x[0])[0]

    block = Block(compute)
    block.hybridize()
    for values in ([[1.0, 2.0]], [[3.0, 5.0], [1.0, -1.0]], [[-1.0, -2.0]]):
        x = np.array(values)
        assert block(x).tolist() == compute(x).tolist()
    assert operators(block)[-1] == "_foreach" and operators(block).count("_cond") == 1
    names = AttrScope._subgraph_names.keys()
    assert {"out_pred", "out_then", "out_then0$in_pred", "in_then"} <= names


def test_names_of_subgraphs_are_counted(counted):
    def compute(x):
        return npx.cond(lambda a: a > 0.5, lambda a: a * 2, lambda a: a * 3, x, name="mine")

    with AttrScope(__subgraph_name__="mine"):
        for _ in range(2):
            block = Block(compute)
            block.hybridize()
            assert block(np.array([1.0])).tolist() == [2]
            assert block(np.array([0.25])).tolist() == [0.75]
        npx.reset_np()
        mx.sym.contrib.cond(mx.sym.var("p"), lambda: mx.sym.var("x"), lambda: mx.sym.var("y"))
    assert AttrScope._subgraph_names == {
        **{f"mine$mine_{part}": 2 for part in ("pred", "then", "else")},
        **{f"mine$cond_{part}": 1 for part in ("pred", "then", "else")},
    }


@pytest.mark.parametrize(
    "function",
    [
        lambda a: a[:0],
        lambda a: a.sum(),
        lambda a: (a > 0).sum(),
        lambda a: a > 1,
        lambda a: a.astype("float64") / 3,
        lambda a: (a > 0) / 2,
        lambda a: a.argmax(),
        lambda a: np.ones(2),
    ],
)
@pytest.mark.parametrize("numpy_types", [False, True])
def test_shapes_and_types_of_branches(function, numpy_types):
    with mx.util.np_default_dtype(numpy_types):
        block = Block(lambda x: npx.cond(lambda a: a.sum() > 0, function, function, x))
        block.hybridize()
        for values in ([1.0, 2.0], [-1.0, -3.0]):
            expected, actual = function(np.array(values)), block(np.array(values))
            assert actual.tolist() == expected.tolist()
            assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
        assert operators(block)[-1] == "_cond"


def halve(x):
    return npx.while_loop(
        lambda i, a: a.sum() > 1, lambda i, a: (a * i, (i + 1, a / 2)), (np.zeros(()), x), 6
    )


def test_a_loop_is_a_node_in_calls_and_in_files(tmp_path):
    block = Block(lambda x: (lambda outs, last: (outs, last[0], last[1]))(*halve(x)))
    block.hybridize()
    with pytest.MonkeyPatch.context() as patch:
        block(np.array([2.0, 6.0]))
        patch.setattr(npx, "while_loop", None)  # the graph runs without it
        block(np.array([2.0, 7.0]))
    assert operators(block)[-1] == "_while_loop"
    files = block.export(str(tmp_path / "loop"))
    loaded = gluon.SymbolBlock.imports(files[0], ["data"])
    loaded.hybridize()
    for values in ([2.0, 6.0], [0.5, 0.25], [1.0, 1.0]):
        (outs, steps, last), own = loaded(np.array(values)), halve(np.array(values))
        assert steps.item() == own[1][0].item() and last.tolist() == own[1][1].tolist()
        assert outs.tolist() == own[0].tolist()


def test_deferred_computation_notes_loops_with_their_values():
    x = np.array([2.0, 6.0])
    deferred.set_variable(x, mx.sym.var("x").as_np_ndarray())
    with deferred.context():
        outs, (steps, last) = halve(x)
        only, alone = npx.while_loop(lambda a: a.sum() > 99, lambda a: (a, a + x), last, 2)
    noted = deferred.get_symbol([outs, steps, last, only, alone])
    assert (steps.item(), last.tolist(), only.tolist()) == (3, [0.25, 0.75], [[0, 0]] * 2)
    assert noted.eval(x=np.array([4.0, 0.0]))[2].asnumpy().tolist() == [1, 0]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: npx.cond(lambda a: a.sum() > 0, lambda a: a, lambda a: a[:1], x),
        lambda x: npx.cond(lambda a: a.sum() > 0, lambda a: a, lambda a: [a], x),
        lambda x: npx.cond(lambda a: a.sum() > 0, lambda a: np.array(a.tolist()), lambda a: a, x),
        lambda x: x if x.sum() > 0 else -x,
    ],
)
def test_blocks_without_a_graph_run_but_cannot_be_exported(function):
    block = Block(function)
    block.hybridize()
    x = np.array([1.0, 2.0])
    assert block(x).tolist() == [1, 2]
    with pytest.raises(RuntimeError, match="cannot export: the block runs without a graph"):
        block.export(None)


def test_statistics_change_in_the_branch_that_is_taken():
    norm = gluon.nn.BatchNorm(in_channels=2, momentum=0.5)
    block = Block(lambda x: npx.cond(lambda a: a.sum() > 0, lambda a: norm(a), lambda a: a, x))
    block.norm = norm
    block.initialize()
    block.hybridize()
    for values in ([[1.0, 3.0]], [[-1.0, -3.0]]):
        with_gradient(block, values)
    onp.testing.assert_allclose(norm.running_mean.data().asnumpy(), [0.5, 1.5])


def double_until(bound, most, draws=False):
    def step(i, a):
        noise = np.random.uniform(size=a.shape) if draws else 0
        return [a * i, [a.sum()]], (i + 1, a * 2 + noise)

    def compute(x):
        outs, (i, a) = npx.while_loop(
            lambda i, a: a.sum() < bound, step, (np.zeros(()), x), max_iterations=most
        )
        return outs[0], outs[1][0], i, a

    return compute


def compute_rows(x):
    return npx.foreach(lambda row, state: (row * state, row + state), x, np.array(1.0))


def compute_nested(x):
    outs, state = npx.foreach(
        lambda rows, states: ([rows[0] * states[0], [rows[1]]], [states[0] + 1]), [x, x * 2], [x[0]]
    )
    return outs[0], outs[1][0], state[0]


def loops_in_loops(x):
    def body(row, state):
        _, (_, y) = npx.while_loop(
            lambda i, a: a.sum() < 10, lambda i, a: (a, (i + 1, a * 2)), (np.zeros(()), row), 6
        )
        return y * state, state + 1

    outs, _ = npx.foreach(body, x, np.array(2.0))
    more = npx.cond(
        lambda o: o.sum() > 0,
        lambda o: npx.while_loop(lambda a: a.sum() < 100, lambda a: (a, a * 2), o, 9)[1],
        lambda o: o,
        outs,
    )
    return outs, more


@pytest.mark.parametrize(
    ("function", "nodes"),
    [
        (lambda x: compute_rows(x[:, 0]), {"_foreach"}),
        (lambda x: npx.foreach(lambda row, s: (row * s, row + s), x, x[0]), {"_foreach"}),
        (lambda x: npx.foreach(lambda row, s: (row, s), x, x[0])[0], {"_foreach"}),
        (lambda x: npx.foreach(lambda row, s: (np.tanh(row), []), x, [])[0], {"_foreach"}),
        (compute_nested, {"_foreach"}),
        (lambda x: npx.foreach(lambda row, s: (row, row), x, x[0])[0], set()),  # s is not used
        (lambda x: npx.foreach(lambda row, s: (row, np.append(s, s)), x, x[0])[0], set()),
        (double_until(50, 30), {"_while_loop"}),
        (double_until(1e6, 11), {"_while_loop"}),
        (double_until(1e6, 3), {"_while_loop"}),
        (double_until(-1, 4), {"_while_loop"}),
        (loops_in_loops, {"_foreach", "_cond"}),
    ],
)
def test_loops_and_their_gradients(function, nodes):
    def computed(call, values):
        x = np.array(values)
        x.attach_grad()
        with autograd.record():
            results = call(x)
            results = results if isinstance(results, (list, tuple)) else [results]
            sum((y * y).sum() for y in results).backward()
        return [y.asnumpy() for y in (*results, x.grad)]

    block = Block(function)
    block.hybridize()
    for values in ([[1.0, 2.0], [3.0, 0.5], [-1.0, 2.0]], [[9.0, 2.0], [3.0, 5.0], [4.0, 2.0]]):
        for left, right in zip(computed(block, values), computed(function, values), strict=True):
            onp.testing.assert_allclose(left, right, rtol=1e-6)
        expected, actual = (call(np.array(values)) for call in (function, block))
        for left, right in zip(expected, actual, strict=True):
            assert left.tolist() == right.tolist() and left.dtype == right.dtype
    assert {"_foreach", "_while_loop", "_cond"} & set(operators(block)) == nodes


def test_loops_with_random_operators_take_no_extra_steps():
    function = double_until(60, 40, draws=True)
    block = Block(function)
    block.hybridize()
    block(np.ones(3))
    results = []
    for call in (function, block):
        mx.random.seed(3)
        results.append([y.tolist() for y in (*call(np.ones(3)), np.random.uniform(size=2))])
    assert results[0] == results[1]


def test_files_with_foreach(tmp_path):
    weight = np.array([[0.5, 0.25], [1.0, -1.0]])
    block = Block(
        lambda x: npx.foreach(lambda row, s: (np.dot(row, weight) + s, row + s), x, x[0])[0]
    )
    block.hybridize()
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    expected = block(x)
    files = block.export(str(tmp_path / "rows"))
    loaded = gluon.SymbolBlock.imports(files[0], ["data"], files[1])
    assert loaded(x).tolist() == expected.tolist()
    longer = np.concatenate([x, x])
    assert loaded(longer).tolist() == block(longer).tolist()


@pytest.mark.parametrize("name", ["foreach", "while_loop"])
def test_escaping_arrays_prevent_a_graph(name):
    def compute(x):
        seen = []
        if name == "foreach":
            npx.foreach(lambda row, s: (seen.append(row * s) or row, s + 1), x, x[0])
        else:
            npx.while_loop(lambda a: a.sum() < 9, lambda a: (seen.append(a * 2) or [], a + 1), x, 5)
        return seen[-1]

    block = Block(compute)
    block.hybridize()
    for factor in (1, 3):
        x = np.array([[1.0, 2.0], [0.5, 0.25]]) * factor
        assert block(x).tolist() == compute(x).tolist()


def test_symbolic_loops_run_the_actual_number_of_steps():
    npx.reset_np()
    steps = []

    class Counted(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            steps.append(in_data[0].asscalar())
            self.assign(out_data[0], req[0], in_data[0] + 1)

    @mx.operator.register("counted_step")
    class CountedProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, shapes, dtypes):
            return Counted()

    _, last = mx.sym.contrib.while_loop(
        lambda i: i < 3,
        lambda i: ([], mx.sym.Custom(i, op_type="counted_step")),
        mx.sym.var("data"),
        max_iterations=50,
    )
    block = gluon.SymbolBlock(last, mx.sym.var("data"))
    block.hybridize()
    assert block(mx.nd.zeros((1,))).asscalar() == 3 and steps == [0, 1, 2]
