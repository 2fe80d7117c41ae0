"""Products with strided operands and results, in place of operators that move elements.

Attention has a sigmoid here: with a softmax it would be one operator.
"""

import numpy as np
import pytest

import mxcy as mx
from mxcy.graph.analysis.views import View

STEPS, BATCH, HEADS, DEPTH = 5, 2, 3, 4
WIDTH = HEADS * DEPTH


def check(monkeypatch, symbol, **shapes):
    """Check outputs against those without the backend; returns the plan's operator names."""
    rng = np.random.default_rng(0)
    arrays = {name: mx.nd.array(rng.normal(size=shape)) for name, shape in shapes.items()}

    def run():
        executor = symbol.bind(mx.cpu(), arrays, grad_req="null")
        return executor, [array.asnumpy() for array in executor.forward()]

    executor, actual = run()
    with monkeypatch.context() as patch:
        patch.setenv("MXNET_SUBGRAPH_BACKEND", "NONE")
        _, expected = run()
    for one, other in zip(actual, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    lines = [line for line in executor.debug_str().splitlines() if " by " in line]
    return [line.split(": ")[1].split(" by ")[0] for line in lines]


def by_heads(x):
    """(batch, steps, width) as (batch, heads, steps, depth)."""
    return mx.sym.swapaxes(mx.sym.reshape(x, shape=(0, 0, HEADS, -1)), 1, 2)


def flat(x):
    """The heads of all samples in one dimension."""
    return mx.sym.reshape(x, shape=(-3, 0, 0))


def joined(x):
    """(batch, heads, steps, depth) as (batch, steps, width)."""
    return mx.sym.reshape(mx.sym.transpose(x, axes=(0, 2, 1, 3)), shape=(0, 0, -1))


def moves(operators):
    return [name for name in operators if name in ("SwapAxis", "transpose", "SliceChannel")]


@pytest.mark.parametrize("three", [True, False])
def test_self_attention_with_a_split(monkeypatch, three):
    x = mx.sym.var("x")
    parts = mx.sym.split(x, num_outputs=3, axis=2)
    query, key, value = (by_heads(parts[i]) for i in range(3))
    if three:
        query, key, value = flat(query), flat(key), flat(value)
    attention = mx.sym.sigmoid(mx.sym.batch_dot(query, key, transpose_b=True) / 2)
    out = mx.sym.batch_dot(attention, value)
    if three:
        out = mx.sym.reshape(out, shape=(-4, -1, HEADS, 0, 0))
    operators = check(monkeypatch, joined(out), x=(BATCH, STEPS, 3 * WIDTH))
    assert operators.count("_strided_dot") == 2 and not moves(operators)
    assert "_div_scalar" not in operators and "batch_dot" not in operators


def test_self_attention_of_three_arrays(monkeypatch):
    query, key, value = (by_heads(mx.sym.var(name)) for name in "qkv")
    scores = mx.sym.batch_dot(query, mx.sym.transpose(key, axes=(0, 1, 3, 2)))
    out = joined(mx.sym.batch_dot(mx.sym.sigmoid(scores), value))
    shape, other = (BATCH, STEPS, WIDTH), (BATCH, STEPS + 2, WIDTH)
    operators = check(monkeypatch, out, q=shape, k=other, v=other)
    assert operators.count("_strided_dot") == 2 and not moves(operators)


def test_steps_before_samples(monkeypatch):
    x = mx.sym.var("x")
    heads = mx.sym.reshape(x, shape=(STEPS, BATCH * HEADS, DEPTH))
    heads = mx.sym.transpose(heads, axes=(1, 0, 2))
    out = mx.sym.batch_dot(mx.sym.sigmoid(mx.sym.batch_dot(heads, heads, transpose_b=True)), heads)
    out = mx.sym.reshape(mx.sym.transpose(out, axes=(1, 0, 2)), shape=(STEPS, BATCH, WIDTH))
    operators = check(monkeypatch, out, x=(STEPS, BATCH, WIDTH))
    assert operators.count("_strided_dot") == 2 and not moves(operators)


def test_a_branch_in_the_middle_ends_the_match(monkeypatch):
    values, attention = mx.sym.var("v"), mx.sym.var("a")
    product = mx.sym.batch_dot(attention, by_heads(values))
    transposed = mx.sym.transpose(product, axes=(0, 2, 1, 3))
    net = mx.sym.Group([mx.sym.reshape(transposed, shape=(0, 0, -1)), mx.sym.tanh(product)])
    shapes = {"v": (BATCH, STEPS, WIDTH), "a": (BATCH, HEADS, STEPS, STEPS)}
    operators = check(monkeypatch, net, **shapes)
    assert moves(operators) == ["transpose"] and operators.count("_strided_dot") == 1
    ended = mx.sym.Group([product, mx.sym.reshape(transposed, shape=(0, 0, -1))])
    assert moves(check(monkeypatch, ended, **shapes)) == ["transpose"]


def test_results_with_other_readers_are_kept(monkeypatch):
    x = by_heads(mx.sym.var("x"))
    net = mx.sym.Group([mx.sym.batch_dot(x, x, transpose_b=True), mx.sym.tanh(x)])
    operators = check(monkeypatch, net, x=(BATCH, STEPS, WIDTH))
    assert moves(operators) == ["SwapAxis"] and "_strided_dot" in operators


@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("right", [False, True])
def test_transposed_matrices_become_an_attribute(monkeypatch, left, right):
    x, y = mx.sym.var("x"), mx.sym.var("y")
    transposed = mx.sym.swapaxes(x, 1, 2), mx.sym.transpose(y, axes=(0, 2, 1))
    net = mx.sym.batch_dot(*transposed, transpose_a=left, transpose_b=right)
    shapes = {"x": (2, 3, 4) if left else (2, 4, 3), "y": (2, 4, 5) if right else (2, 5, 4)}
    operators = check(monkeypatch, net, **shapes)
    assert operators == ["batch_dot"]


def test_products_of_moved_products(monkeypatch):
    x = mx.sym.var("x")
    first = mx.sym.batch_dot(by_heads(x), by_heads(x), transpose_b=True) / 2
    transposed = mx.sym.swapaxes(first, 2, 3)
    second = mx.sym.batch_dot(transposed, transposed)
    third = mx.sym.batch_dot(mx.sym.swapaxes(second, 2, 3), second)
    operators = check(monkeypatch, third, x=(BATCH, STEPS, WIDTH))
    assert "_strided_dot" in operators


@pytest.mark.parametrize("factor", [0.25, -3.0, 0.0])
def test_factors(monkeypatch, factor):
    x, y = mx.sym.var("x"), mx.sym.var("y")
    shapes = {"x": (2, 96, 80), "y": (2, 96, 80)}
    product = mx.sym.batch_dot(x, y, transpose_b=True)
    operators = check(monkeypatch, product * factor, **shapes)
    assert operators == (["_linalg_gemm2"] if factor else ["batch_dot", "_mul_scalar"])
    both = mx.sym.Group([product * factor, mx.sym.tanh(product)])
    assert "batch_dot" in check(monkeypatch, both, **shapes)


def test_slices_and_mirrored_arrays(monkeypatch):
    x = mx.sym.var("x")
    part = mx.sym.slice_axis(x, axis=2, begin=1, end=5)
    operators = check(monkeypatch, mx.sym.batch_dot(part, part, transpose_b=True), x=(2, 3, 9))
    assert operators == ["_strided_dot"]
    first = mx.sym.slice_axis(x, axis=0, begin=0, end=1)
    operators = check(monkeypatch, mx.sym.batch_dot(first, first, transpose_b=True), x=(2, 3, 9))
    assert operators == ["_strided_dot"]
    mirrored = mx.sym.reverse(x, axis=2)
    operators = check(monkeypatch, mx.sym.batch_dot(mirrored, x, transpose_b=True), x=(2, 3, 9))
    assert "batch_dot" in operators and "_strided_dot" not in operators


def test_single_rows_columns_and_heads(monkeypatch):
    x, y = mx.sym.var("x"), mx.sym.var("y")
    net = mx.sym.batch_dot(mx.sym.transpose(x, axes=(1, 0, 2)), mx.sym.swapaxes(y, 1, 2)) * 3
    for rows, groups, inner, columns in ((1, 4, 3, 5), (5, 1, 3, 1), (2, 3, 1, 4), (1, 1, 1, 1)):
        check(monkeypatch, net, x=(rows, groups, inner), y=(groups, columns, inner))


def moved_at_random(rng, entry, shape):
    """A random move of an array, as (entry, shape)."""
    axis = int(rng.integers(len(shape)))
    kind = rng.integers(4)
    if kind == 0:
        axes = [int(i) for i in rng.permutation(len(shape))]
        return mx.sym.transpose(entry, axes=axes), tuple(shape[i] for i in axes)
    if kind == 1:
        begin = int(rng.integers(shape[axis]))
        cut = mx.sym.slice_axis(entry, axis=axis, begin=begin, end=None)
        return cut, (*shape[:axis], shape[axis] - begin, *shape[axis + 1 :])
    if kind == 2 and shape[axis] % 2 == 0:
        part = mx.sym.split(entry, num_outputs=2, axis=axis)[int(rng.integers(2))]
        return part, (*shape[:axis], shape[axis] // 2, *shape[axis + 1 :])
    new = (shape[0] * shape[1], *shape[2:]) if len(shape) > 3 else (*shape[:2], 1, shape[2])
    return mx.sym.reshape(entry, shape=new), new


@pytest.mark.parametrize("seed", range(25))
def test_random_moves_around_products(monkeypatch, seed):
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.choice([1, 2, 4, 6], 4))
    entry, now = mx.sym.var("x"), shape
    branches = []
    for _ in range(12):
        if rng.random() < 0.3:
            entry = mx.sym.batch_dot(entry, entry, transpose_b=True)
            now = (*now[:-1], now[-2])
            entry = mx.sym.tanh(entry) if rng.random() < 0.5 else entry * 0.5
        else:
            entry, now = moved_at_random(rng, entry, now)
        if rng.random() < 0.1:
            branches.append(mx.sym.tanh(entry))
    check(monkeypatch, mx.sym.Group([mx.sym.identity(entry), *branches]), x=shape)


def positions(view):
    """The positions of all elements, one by one."""
    actual = np.array([view.offset])
    for rounds, step in view.loops:
        actual = (actual[:, None] + np.arange(rounds) * step).reshape(-1)
    return actual


def test_views_of_views():
    """Against NumPy, over views that permute and slice arrays of several shapes."""
    rng, told = np.random.default_rng(3), 0

    def draw(size):
        shape = {24: (2, 3, 4), 12: (4, 3), 6: (3, 2), 8: (2, 2, 2), 16: (4, 4)}.get(size, (size,))
        starts = [int(rng.integers(n)) if rng.random() < 0.2 else 0 for n in shape]
        steps = [int(np.prod(shape[i + 1 :])) for i in range(len(shape))]
        loops = [(n - s, step) for n, s, step in zip(shape, starts, steps, strict=True)]
        offset = sum(s * step for s, step in zip(starts, steps, strict=True))
        return View([loops[i] for i in rng.permutation(len(shape))], offset)

    for _ in range(300):
        outer = draw(int(rng.choice([24, 12, 16])))
        inner = draw(outer.size)
        actual = outer.of(inner)
        if actual is None:
            continue
        told += 1
        np.testing.assert_array_equal(positions(actual), positions(outer)[positions(inner)])
        back = actual.inverse()
        if back is not None:
            order = positions(back)[positions(actual)]
            np.testing.assert_array_equal(order, np.arange(actual.size))
    assert told > 200
