"""Sorting, searching and selection, against NumPy's."""

import numpy as onp
import pytest

import mxcy as mx
from mxcy import autograd

np = mx.np
TYPES = ("bool", "int8", "uint8", "int32", "int64", "float16", "float32", "float64")


def values(dtype, shape=(4, 5)):
    actual = onp.random.RandomState(11).randint(0, 7, shape).astype(dtype)
    if onp.dtype(dtype).kind == "f" and actual.size > 3:
        actual.reshape(-1)[3] = onp.nan
    return actual


def same(actual, expected):
    expected = onp.asarray(expected)
    assert isinstance(actual, np.ndarray)
    assert actual.shape == expected.shape and actual.dtype == expected.dtype
    onp.testing.assert_array_equal(actual.asnumpy(), expected)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("shape", [(4, 5), (0, 3), (1,)])
def test_sorting(dtype, axis, shape):
    given = values(dtype, shape)
    array = np.array(given, dtype)
    same(np.sort(array, axis), onp.sort(given, axis))
    same(array.sort(axis), onp.sort(given, axis))
    same(np.argsort(array, axis), onp.argsort(given, axis, kind="stable"))
    same(
        np.partition(array, 0, axis) if given.size else np.sort(array, axis), onp.sort(given, axis)
    )
    if given.size and dtype != "bool":
        down = np.sort(array, axis, descending=True).asnumpy()
        numbers = down[~onp.isnan(down.astype("float64"))]
        assert onp.sort(numbers)[::-1].tolist() == numbers.tolist() or axis is not None
    same(array, given)


def test_sorting_a_number_and_gradients():
    same(np.sort(np.array(3.0), axis=None), onp.array([3.0], "float32"))
    with pytest.raises(onp.exceptions.AxisError):
        np.sort(np.array(3.0))
    with pytest.raises(ValueError, match="kth"):
        np.partition(np.ones(3), 3)
    array = np.array([[3.0, 1, 2]])
    array.attach_grad()
    with autograd.record():
        actual = np.sort(array) * np.array([1.0, 2, 3])
    actual.backward()
    assert array.grad.tolist() == [[3, 1, 2]]
    assert np.msort(np.array([[2.0, 1], [1, 3]])).tolist() == [[1, 1], [2, 3]]
    assert np.argpartition(np.array([3.0, 1, 2]), 1).tolist() == [1, 2, 0]


def test_lexsort():
    first, second = values("int32"), values("int64")[::-1]
    for axis in (0, -1):
        same(
            np.lexsort((np.array(first, "int32"), np.array(second, "int64")), axis),
            onp.lexsort((first, second), axis),
        )
    same(np.lexsort(np.array(first, "int32")), onp.lexsort(first))


@pytest.mark.parametrize("side", ["left", "right"])
def test_searching(side):
    bounds, wanted = onp.array([0.0, 1, 1, 4], "float32"), onp.array([[1.0, -1], [9, 4]], "float32")
    same(
        np.searchsorted(np.array(bounds), np.array(wanted), side),
        onp.searchsorted(bounds, wanted, side),
    )
    same(np.array(bounds).searchsorted(1.0, side), onp.searchsorted(bounds, 1.0, side))
    order = onp.array([3, 0, 2, 1])
    mixed = onp.empty(4, "float32")
    mixed[order] = bounds
    same(np.searchsorted(np.array(mixed), 2.0, side, order), onp.searchsorted(bounds, 2.0, side))
    right = side == "right"
    for bins in (bounds, bounds[::-1]):
        same(
            np.digitize(np.array(wanted), np.array(bins), right), onp.digitize(wanted, bins, right)
        )
    with pytest.raises(ValueError, match="side"):
        np.searchsorted(np.array(bounds), 1.0, "middle")


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(4, 5), (0, 3), (3,), (2, 2, 2)])
def test_nonzero_and_where(dtype, shape):
    given = values(dtype, shape)
    array = np.array(given, dtype)
    for actual, expected in zip(np.nonzero(array), onp.nonzero(given), strict=True):
        same(actual, expected)
    for actual, expected in zip(np.where(array), onp.where(given), strict=True):
        same(actual, expected)
    same(np.argwhere(array), onp.argwhere(given))
    same(np.flatnonzero(array), onp.flatnonzero(given))
    assert len(array.nonzero()) == len(shape)
    for value, count in ((1.0, 1), (0.0, 0)):  # one element without dimensions
        (actual,) = np.nonzero(np.array(value))
        assert actual.shape == (count,) and np.argwhere(np.array(value)).shape == (count, 0)
        assert mx.npx.nonzero(np.array(value)).shape == (count, 1)
    with mx.util.np_default_dtype(True), pytest.raises(ValueError, match="without dimensions"):
        np.nonzero(np.array(1.0))


def test_where_chooses():
    mask = onp.array([[True], [False]])
    x, y = onp.arange(3, dtype="float32"), onp.ones((2, 1), "float64")
    same(
        np.where(np.array(mask, "bool"), np.array(x), np.array(y, "float64")), onp.where(mask, x, y)
    )
    whole = np.array([1, 0, 3], "int32")
    assert np.where(whole, whole, 0).dtype == "int32"
    assert np.where(whole, 1.5, whole).tolist() == [1.5, 0, 1.5]
    assert np.where(whole, np.ones(3), 2.5).dtype == "float32"
    assert np.where(whole, 1, 0).tolist() == [1, 0, 1] and np.where(whole, 1, 0).dtype == "float32"
    assert np.where([True, False], [1.0, 2], [3.0, 4]).tolist() == [1, 4]
    assert np.where(np.zeros((0,)), np.ones(1), 2).shape == (0,)
    assert np.where(np.array(onp.nan), np.array(1.0), np.array(2.0)).item() == 1
    with pytest.raises(ValueError, match="both"):
        np.where(whole, whole)


def test_gradients_of_where():
    mask = np.array([[1.0], [0]]) > 0
    x, y = np.array([1.0, 2, 3]), np.array([[1.0], [2]])
    for array in (x, y):
        array.attach_grad()
    with autograd.record():
        total = (np.where(mask, x, y) + np.where(mask, x, 1) * 2 + np.where(mask, 1, y) * 3).sum()
    total.backward()
    assert x.grad.tolist() == [3, 3, 3] and y.grad.tolist() == [[0], [12]]


def test_functions_of_0d_arrays():
    x = np.array(3.0)
    assert np.squeeze(x, -1).shape == () and np.squeeze(x, (0,)).item() == 3
    assert np.argmin(x, axis=0).item() == 0 and x.argmax(axis=-1).item() == 0
    with pytest.raises(mx.MXNetError):
        np.squeeze(x, 1)


def test_kinds_of_algorithms_by_position():
    x = np.array([3, 1, 2])
    assert np.sort(x, -1, "quicksort").tolist() == [1, 2, 3]
    assert np.argsort(x, -1, "stable").tolist() == [1, 2, 0]
    assert np.sort(x, -1, True).tolist() == [3, 2, 1]


@pytest.mark.parametrize("dtype", [*TYPES, "int16", "uint16", "uint32", "uint64"])
@pytest.mark.parametrize(
    "shape", [(1,), (64,), (300,), (3, 5), (2, 3, 4), (70, 1), (1, 70), (2, 0), (2, 1, 2, 2)]
)
@pytest.mark.parametrize("density", [0.0, 0.3, 1.0])
def test_places_that_are_not_zero(dtype, shape, density):
    random = onp.random.RandomState(7)
    elements = (random.randint(1, 100, shape) * (random.rand(*shape) < density)).astype(dtype)
    if onp.dtype(dtype).kind == "f" and elements.size:
        elements.reshape(-1)[0] = -0.0
        elements.reshape(-1)[-1] = onp.nan if density else 0
    array = np.array(elements, dtype)
    columns = np.nonzero(array)
    assert isinstance(columns, tuple)
    for column, expected in zip(columns, onp.nonzero(elements), strict=True):
        same(column, expected)
    same(np.flatnonzero(array), onp.flatnonzero(elements))
    same(np.argwhere(array), onp.argwhere(elements))
    same(np.count_nonzero(array), onp.count_nonzero(elements))
    same(np.count_nonzero(array, axis=0), onp.count_nonzero(elements, axis=0))
    same(np.extract(array != 0, array), elements[elements != 0])
    same(np.compress(array.ravel() != 0, array.ravel()), elements[elements != 0])


def test_places_in_recorded_computations():
    data = np.array([0.0, 2.0, 0.0, 3.0])
    data.attach_grad()
    with autograd.record():
        loss = data[np.flatnonzero(data)].sum() + np.extract(data > 2, data).sum()
    loss.backward()
    assert data.grad.tolist() == [0, 1, 0, 2]
    assert np.flatnonzero(mx.nd.array([0.0, 1.0])).tolist() == [1]
    assert np.flatnonzero([0, 2]).tolist() == [1]
