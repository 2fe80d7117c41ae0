"""Functions that select, delete and insert elements, and diagonals, against NumPy's."""

import numpy as onp
import pytest

import mxcy as mx
from tests.numpy.movement import check

np = mx.np


@pytest.mark.parametrize(
    ("call", "shapes"),
    [
        ("take(x, [1, -1, 1])", [(2, 3)]),
        ("take(x, [[0, 2], [2, -3]], axis=1)", [(2, 3)]),
        ("take(x, 1, axis=0)", [(2, 3)]),
        ("take(x, [-5, 9], axis=1, mode='clip')", [(2, 3)]),
        ("take(x, [-5, 9], axis=1, mode='wrap')", [(2, 3)]),
        ("take(x, 0)", [()]),
        ("take_along_axis(x, np.array([[0, 1], [2, -1]], 'int64'), axis=1)", [(2, 3)]),
        ("take_along_axis(x, np.array([[1, 0, 1]], 'int32'), axis=0)", [(2, 3)]),
        ("take_along_axis(x, np.array([[0], [2]], 'int64'), axis=-1)", [(1, 3)]),
        ("take_along_axis(x, np.array([4, 0], 'int64'), axis=None)", [(2, 3)]),
        ("choose(np.array([0, 1, 0], 'int32'), [x, y])", [(3,), (3,)]),
        ("choose(np.array([[0], [3]], 'int32'), [x, y], mode='clip')", [(3,), (2, 3)]),
        ("choose(np.array([-1, 4, 3], 'int32'), [x, y], mode='wrap')", [(3,), (3,)]),
        ("compress([False, True], x, axis=0)", [(2, 3)]),
        ("compress([False, True, True], x)", [(2, 3)]),
        ("extract(np.arange(6).reshape(2, 3) % 2 == 0, x)", [(2, 3)]),
        ("select([np.arange(3) > 1, np.arange(3) > 0], [x, y])", [(3,), (2, 3)]),
        ("delete(x, 1)", [(2, 3)]),
        ("delete(x, -1, axis=1)", [(2, 3)]),
        ("delete(x, -3, axis=1)", [(2, 3)]),
        ("delete(x, 2, axis=1)", [(2, 3)]),
        ("delete(x, slice(0, 2), axis=1)", [(2, 3)]),
        ("delete(x, [0, 0, 2], axis=-1)", [(2, 3)]),
        ("delete(x, [True, False], axis=0)", [(2, 3)]),
        ("delete(x, [], axis=0)", [(2, 3)]),
        ("insert(x, 1, y)", [(4,), ()]),
        ("insert(x, 1, y, axis=1)", [(2, 3), (2,)]),
        ("insert(x, [1], y, axis=1)", [(2, 3), (2, 2)]),
        ("insert(x, [1, 3, 1], y)", [(4,), (3,)]),
        ("insert(x, slice(0, 4, 2), y)", [(4,), (2,)]),
        ("insert(x, [0, -1], y, axis=1)", [(2, 3), (2, 2)]),
        ("insert(x, [0, 2], y, axis=0)", [(2, 3), (3,)]),
        ("resize(x, (2, 5))", [(2, 3)]),
        ("resize(x, 2)", [(2, 3)]),
        ("diag(x)", [(3,)]),
        ("diag(x, -1)", [(3, 4)]),
        ("diagflat(x, 1)", [(2, 2)]),
        ("diagonal(x, 1, 0, 2)", [(2, 3, 4)]),
        ("trace(x)", [(3, 4)]),
        ("trace(x, -1, 2, 1)", [(2, 3, 4)]),
        ("tril(x)", [(3, 4)]),
        ("triu(x, 1)", [(2, 3, 3)]),
        ("tril(x, -1)", [(3,)]),
        ("broadcast_arrays(x, y)", [(3,), (2, 1)]),
        ("meshgrid(x, y)", [(3,), (2,)]),
        ("meshgrid(x, y, z, indexing='ij', sparse=True)", [(3,), (2,), ()]),
        ("ix_(x, y)", [(3,), (2,)]),
    ],
)
def test_values_and_gradients(call, shapes):
    check(call, *shapes)
    if "trace" not in call:
        check(call, *shapes, dtype="int64", grad=False)


@pytest.mark.parametrize(
    ("call", "shapes"),
    [
        ("take(x, np.zeros((0, 2), 'int64'), axis=1)", [(2, 3)]),
        ("delete(x, slice(None), axis=0)", [(2, 3)]),
        ("insert(x, 0, y, axis=0)", [(0, 3), (3,)]),
        ("resize(x, (2, 2))", [(0,)]),
        ("diag(x, 5)", [(2, 3)]),
        ("diagonal(x)", [(0, 3)]),
        ("trace(x)", [(0, 3)]),
        ("tril(x)", [(2, 0)]),
        ("compress([], x, axis=1)", [(2, 3)]),
    ],
)
def test_nothing_is_chosen(call, shapes):
    check(call, *shapes, grad=False)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("take(x, [3], axis=1)", IndexError),
        ("take(x, np.array([3], 'int64'), axis=1).tolist()", mx.MXNetError),
        ("take(x, np.array([-4], 'int64'), axis=1).tolist()", mx.MXNetError),
        ("take_along_axis(x, np.array([[3]], 'int64'), 1).tolist()", mx.MXNetError),
        ("take_along_axis(x, np.array([0], 'int64'), 1)", ValueError),
        ("choose(np.array([2], 'int64'), [x, x]).tolist()", mx.MXNetError),
        ("choose(np.array([-1], 'int64'), [x, x]).tolist()", mx.MXNetError),
        ("take(x, [0], axis=2)", ValueError),
        ("take(x, [0], mode='other')", ValueError),
        ("delete(x, 6)", IndexError),
        ("insert(x, 7, 1)", IndexError),
        ("resize(x, (-1, 2))", ValueError),
        ("select([], [])", ValueError),
        ("select([x], [x])", TypeError),
        ("diag(np.zeros((1, 1, 1)))", mx.MXNetError),
        ("trace(np.zeros(3))", mx.MXNetError),
        ("diagonal(x, 0, 1, 1)", mx.MXNetError),
        ("fill_diagonal(x[0], 1)", ValueError),
        ("meshgrid(x, indexing='no')", ValueError),
        ("ix_(x)", ValueError),
        ("unravel_index([0], (2, 3), 'K')", ValueError),
    ],
)
def test_invalid_arguments(call, error):
    with pytest.raises(error):
        eval(f"np.{call}", {"np": np, "x": np.ones((2, 3))})


def test_delete_skips_indices_out_of_bounds_as_in_mxnet():
    x = np.arange(6).reshape(2, 3)
    places = np.array([1, 3, -1], "int64")
    assert np.delete(x, places, axis=1).tolist() == [[0, 2], [3, 5]]
    assert np.delete(x, places).tolist() == [0, 2, 4, 5]
    assert np.delete(x, x[:, 0] > 0, axis=0).tolist() == [[0, 1, 2]]
    assert np.delete(x, [1, -1], axis=1).tolist() == [[0], [3]]
    assert np.insert(x, 3, 7, axis=1).tolist() == [[0, 1, 2, 7], [3, 4, 5, 7]]


def test_types():
    x, i = np.ones((2, 2)), np.ones((2, 2), "int32")
    assert np.trace(i).dtype == "int32" and np.trace(i > 0).dtype == "int64"
    assert np.select([x > 0], [i]).dtype == "int32"
    assert np.select([x > 0], [x], 2).dtype == "float32"
    assert np.insert(i, 0, 2.5).dtype == "int32" and np.insert(i, 0, 2.5).tolist()[0] == 2
    assert np.choose(np.zeros(2, "int32"), [np.ones(2), i]).dtype == "float32"
    with mx.util.np_default_dtype(True):
        assert np.trace(i).dtype == "int64"


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("shape", [(3, 3), (5, 2), (2, 5), (2, 2, 2), (0, 3)])
@pytest.mark.parametrize("value", [7, [1, 2]])
def test_fill_diagonal(shape, value, wrap):
    array, expected = np.zeros(shape), onp.zeros(shape)
    assert np.fill_diagonal(array, value, wrap) is None
    onp.fill_diagonal(expected, value, wrap)
    onp.testing.assert_array_equal(array.asnumpy(), expected)


@pytest.mark.parametrize(
    "call",
    [
        "tril_indices(3)",
        "tril_indices(3, 1, 2)",
        "triu_indices(3, -1)",
        "triu_indices(2, 0, 4)",
        "tril_indices_from(np.ones((2, 3)), 1)",
        "triu_indices_from(np.ones((2, 3)), 1)",
        "diag_indices(3, 3)",
        "diag_indices_from(np.ones((2, 2, 2)))",
        "unravel_index([[1, 5], [0, 3]], (2, 3))",
        "unravel_index([1, 5], (2, 3), 'F')",
        "unravel_index([1, 2], 5)",
        "ix_([1, 2], [True, False, True], [])",
        "indices((2, 3))",
        "indices((), dtype='int64')",
        "indices((2, 0), dtype='int64')",
    ],
)
def test_positions(call):
    actual, expected = (eval(f"np.{call}", {"np": module}) for module in (np, onp))
    assert len(actual) == len(expected) and type(actual) is not list
    for own, theirs in zip(actual, expected, strict=True):
        assert own.dtype == "int64" and own.shape == theirs.shape
        assert own.tolist() == theirs.tolist()


@pytest.mark.parametrize("call", ["tri(3)", "tri(2, 4, 1)", "tri(2, 3, -1, dtype='int32')"])
def test_tri(call):
    actual, expected = (eval(f"np.{call}", {"np": module}) for module in (np, onp))
    assert actual.tolist() == expected.tolist()
    assert actual.dtype == ("int32" if "int32" in call else "float32")


def test_powers():
    for call in ("vander(x)", "vander(x, 2)", "vander(x, 4, increasing=True)"):
        values = onp.array([1.0, 2, 3], "float32")
        actual = eval(f"np.{call}", {"np": np, "x": np.array(values)})
        onp.testing.assert_array_equal(actual, eval(f"np.{call}", {"np": onp, "x": values}))
    x = np.array([0.0, 2])
    x.attach_grad()
    with mx.autograd.record():
        y = np.vander(x, 3)
    y.backward()
    assert x.grad.tolist() == [1, 5]


def test_methods():
    x = np.arange(6).reshape(2, 3)
    assert x.take([1, 2], axis=1).tolist() == [[1, 2], [4, 5]]
    assert x.diagonal().tolist() == [0, 4] and x.trace().item() == 4
    assert x.repeat(2, 1).shape == (2, 6) and x.tile((2, 1)).shape == (4, 3)
    assert x.compress([True], axis=0).shape == (1, 3)
    assert x.swapaxes(0, 1).shape == (3, 2) and x.ravel().shape == (6,)
    assert np.array([1, 0]).choose([x[0, :2], x[1, :2]]).tolist() == [3, 1]
