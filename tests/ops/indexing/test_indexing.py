"""Indexing operators with many block sizes, several threads and repeated indices."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import autograd

nd = mx.nd
RNG = np.random.default_rng(5)
DTYPES = ("float32", "float64", "float16", "int8", "int64")
INDEX_DTYPES = ("int32", "int64", "uint8", "float32", "float16")


def numbers(*shape, dtype="float32"):
    return RNG.integers(-100, 100, shape).astype(dtype)


@pytest.mark.parametrize("inner", [1, 3, 8, 130])
@pytest.mark.parametrize("dtype", DTYPES)
def test_takes_blocks_of_any_size(inner, dtype):
    table, rows = numbers(50, inner, dtype=dtype), RNG.integers(0, 50, (3000,))
    for index_dtype in INDEX_DTYPES:
        actual = nd.take(nd.array(table, dtype=dtype), nd.array(rows, dtype=index_dtype))
        np.testing.assert_array_equal(actual.asnumpy(), table[rows])


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_takes_along_any_dimension(axis):
    data, rows = numbers(9, 10, 11), RNG.integers(0, 9, (200, 30))
    actual = nd.take(nd.array(data), nd.array(rows), axis=axis)
    np.testing.assert_array_equal(actual.asnumpy(), np.take(data, rows, axis))


@pytest.mark.parametrize("last", [49, 50, -1])
def test_single_bad_index_among_many_is_clipped(last):
    table, rows = numbers(50), RNG.integers(0, 50, (5000,))
    rows[-1] = last
    for mode in ("clip", "wrap"):
        actual = nd.take(nd.array(table), nd.array(rows, dtype="int64"), mode=mode)
        np.testing.assert_array_equal(actual.asnumpy(), table.take(rows, mode=mode))
    if last != 49:
        with pytest.raises(mx.base.MXNetError, match="out of bounds"):
            nd.take(nd.array(table), nd.array(rows, dtype="int64"), mode="raise").wait_to_read()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("axis", [0, 1])
def test_sums_the_gradient_of_repeated_rows(axis, dtype):
    shape, rows = (7, 70), RNG.integers(0, 7, (5000,))
    data = nd.array(numbers(*shape, dtype=dtype), dtype=dtype)
    data.attach_grad()
    with autograd.record():
        taken = nd.take(data, nd.array(rows, dtype="int32"), axis=axis)
    taken.backward(nd.full(taken.shape, 0.25, dtype=dtype))
    count = np.bincount(rows, minlength=shape[axis]) * 0.25
    expected = np.broadcast_to(count[:, None] if axis == 0 else count, shape)
    np.testing.assert_allclose(data.grad.asnumpy(), expected, rtol=2e-3)


def test_gradients_do_not_depend_on_threads():
    rows = nd.array(RNG.integers(0, 40, (30000,)), dtype="int32")
    head = nd.array(RNG.normal(size=(30000, 24)))
    before, actual = mx.util.set_num_threads(1), []
    try:
        for threads in (1, 2):
            mx.util.set_num_threads(threads)
            data = nd.zeros((40, 24))
            data.attach_grad()
            with autograd.record():
                taken = nd.take(data, rows)
            taken.backward(head)
            actual.append(data.grad.asnumpy())
    finally:
        mx.util.set_num_threads(before)
    np.testing.assert_array_equal(*actual)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("dtype", DTYPES)
def test_picks_along_any_dimension(axis, dtype):
    data = numbers(60, 70, 80, dtype=dtype)
    index = RNG.integers(0, 60, np.delete(data.shape, axis))
    actual = nd.pick(nd.array(data, dtype=dtype), nd.array(index), axis=axis)
    expected = np.take_along_axis(data, np.expand_dims(index, axis), axis).squeeze(axis)
    np.testing.assert_array_equal(actual.asnumpy(), expected)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint8", "int64"])
@pytest.mark.parametrize("on, off", [(1, 0), (3, 2)])
def test_one_hot_of_many_rows(dtype, on, off):
    index = RNG.integers(-2, 40, (5000,))
    actual = nd.one_hot(nd.array(index), depth=37, on_value=on, off_value=off, dtype=dtype)
    expected = np.where(index[:, None] == np.arange(37), on, off)
    assert actual.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(actual.asnumpy(), expected)


@pytest.mark.parametrize("condition_dtype", ["float32", "float64", "float16", "int32", "uint8"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_where_of_large_arrays(condition_dtype, dtype):
    x, y = numbers(300, 701, dtype=dtype), numbers(300, 701, dtype=dtype)
    for shape in ((300, 701), (300,)):
        condition = RNG.integers(0, 2, shape).astype(condition_dtype)
        arrays = (nd.array(values, dtype=values.dtype) for values in (condition, x, y))
        chosen = condition.reshape(shape + (1,) * (2 - len(shape))) != 0
        np.testing.assert_array_equal(nd.where(*arrays).asnumpy(), np.where(chosen, x, y))


@pytest.mark.parametrize("inner", [(), (5,), (300,)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_gathers_and_scatters(inner, dtype):
    data = numbers(20, 30, *inner, dtype=dtype)
    places = RNG.permutation(600)[:400]
    index = nd.array(np.stack(np.divmod(places, 30)), dtype="int32")
    gathered = nd.gather_nd(nd.array(data, dtype=dtype), index)
    np.testing.assert_array_equal(gathered.asnumpy(), data.reshape(600, *inner)[places])
    scattered = nd.scatter_nd(gathered, index, shape=data.shape).asnumpy()
    expected = np.zeros((600, *inner), dtype)
    expected[places] = data.reshape(600, *inner)[places]
    np.testing.assert_array_equal(scattered, expected.reshape(data.shape))


def test_the_last_of_equal_coordinates_remains():
    rows = nd.array([[1, 0, 1]], dtype="int32")
    actual = nd.scatter_nd(nd.array([[1, 1], [2, 2], [3, 3]]), rows, shape=(2, 2))
    assert actual.asnumpy().tolist() == [[2, 2], [3, 3]]
    summed = nd._internal._backward_gather_nd(nd.ones((3, 2)), rows, shape=(2, 2))
    assert summed.asnumpy().tolist() == [[1, 1], [2, 2]]


def test_sets_elements_in_place():
    base = nd.zeros((3, 4))
    index = nd.array([[0, 2], [1, -1]], dtype="int32")
    nd._internal._scatter_set_nd(base, nd.array([5, 6]), index, shape=(3, 4), out=base)
    assert base.asnumpy()[0, 1] == 5 and base.asnumpy()[2, 3] == 6 and base.asnumpy().sum() == 11


def test_masks_rows_by_value():
    data = nd.array(numbers(6, 2))
    data.attach_grad()
    for mask in ([0, 1, 1, 0, 0, 1], [0] * 6):
        with autograd.record():
            kept = nd.contrib.boolean_mask(data, nd.array(mask))
        assert kept.shape == (sum(mask), 2)
        np.testing.assert_array_equal(kept.asnumpy(), data.asnumpy()[np.array(mask) == 1])
        kept.backward()
        np.testing.assert_array_equal(data.grad.asnumpy(), np.array([mask] * 2).T)


def test_take_from_an_empty_dimension():
    with pytest.raises(mx.base.MXNetError, match="dimension of size 0"):
        nd.take(nd.slice(nd.ones((2, 3)), begin=(2,), end=(1,)), nd.array([0])).asnumpy()
