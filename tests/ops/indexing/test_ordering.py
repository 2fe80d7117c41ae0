"""Ordering of long rows, ties, NaN and infinities, and partial sorting."""

import numpy as np
import pytest

import mxcy as mx

nd = mx.nd
RNG = np.random.default_rng(2)
DTYPES = ("float32", "float64", "float16", "int8", "uint8", "int32", "int64")


def rows(dtype, *shape):
    """Values with many ties; floats have zeros of both signs, infinities and NaN."""
    values = RNG.integers(0, 50, shape) - (0 if dtype == "uint8" else 20)
    values = values.astype(dtype)
    if dtype.startswith("float"):
        flat = values.reshape(-1)
        places = RNG.permutation(flat.size)[: 4 * (flat.size // 10)].reshape(4, -1)
        for place, special in zip(places, (np.nan, np.inf, -np.inf, -0.0), strict=True):
            flat[place] = special
    return values


def order(values, ascending, axis=-1):
    """Stable order with NaN as the largest."""
    if ascending:
        return np.argsort(values, axis, kind="stable")
    flipped = np.argsort(np.flip(values, axis), axis, kind="stable")
    return values.shape[axis] - 1 - np.flip(flipped, axis)


@pytest.mark.parametrize("ascending", [True, False])
@pytest.mark.parametrize("n", [1, 2, 39, 41, 700, 5000])
@pytest.mark.parametrize("dtype", DTYPES)
def test_sorts_stably(dtype, n, ascending):
    values = rows(dtype, 3, n)
    array, expected = nd.array(values, dtype=dtype), order(values, ascending)
    actual = nd.argsort(array, is_ascend=ascending, dtype="int64")
    np.testing.assert_array_equal(actual.asnumpy(), expected)
    sorted_values = nd.sort(array, is_ascend=ascending).asnumpy()
    np.testing.assert_array_equal(sorted_values, np.take_along_axis(values, expected, -1))


@pytest.mark.parametrize("k", [1, 5, 40, 60, 999])
@pytest.mark.parametrize("dtype", DTYPES)
def test_finds_few_among_many(dtype, k):
    values = rows(dtype, 4, 1000)
    expected = order(values, False)[:, :k]
    array = nd.array(values, dtype=dtype)
    actual, indices = nd.topk(array, k=k, ret_typ="both", dtype="int32")
    np.testing.assert_array_equal(indices.asnumpy(), expected)
    np.testing.assert_array_equal(actual.asnumpy(), np.take_along_axis(values, expected, 1))
    mask = nd.topk(array, k=k, ret_typ="mask").asnumpy()
    assert (mask.sum(1) == k).all()
    assert np.take_along_axis(mask, expected, 1).all()


@pytest.mark.parametrize("shape, axis", [((300, 7, 5), 0), ((5, 300, 7), 1), ((90, 80), None)])
def test_orders_any_dimension(shape, axis):
    values = rows("float32", *shape)
    actual = nd.topk(nd.array(values), k=9, axis=axis, is_ascend=True, dtype="int32").asnumpy()
    flat = values.reshape(-1) if axis is None else values
    expected = np.take(order(flat, True, axis or 0), range(9), axis or 0)
    np.testing.assert_array_equal(actual, expected)


def test_finds_the_first_of_a_descending_row():
    """The worst case of a search that keeps the best so far."""
    values = np.arange(100000, 0, -1, dtype="float32")
    actual = nd.topk(nd.array(values), k=10, is_ascend=True, ret_typ="value").asnumpy()
    np.testing.assert_array_equal(actual, np.arange(1, 11))


def test_orders_rows_on_threads():
    values = rows("float32", 600, 800)
    actual = nd.argsort(nd.array(values), dtype="int32").asnumpy()
    np.testing.assert_array_equal(actual, order(values, True))


@pytest.mark.parametrize("ascending", [True, False])
@pytest.mark.parametrize(
    "shape, axis",
    [
        ((3, 5000), 1),
        ((2, 1030), 1),
        ((37, 1), 1),
        ((37, 300), 1),
        ((20, 1024), 1),
        ((300, 37), 0),
        ((3, 70, 21), 1),
        ((3, 70, 2), 1),
        ((5,), 0),
        ((1, 130), 1),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "int32", "float64", "int64"])
def test_sorts_values_alone(dtype, shape, axis, ascending):
    """Radix sort, partitioning or a sorting network, with contiguous, interleaved or other rows."""
    values = rows(dtype, *shape)
    if dtype.startswith("int"):
        values.flat[:2] = np.iinfo(dtype).min, np.iinfo(dtype).max
    array = nd.array(values, dtype=dtype)
    expected = np.take_along_axis(values, order(values, ascending, axis), axis)
    np.testing.assert_array_equal(nd.sort(array, axis, ascending).asnumpy(), expected)
    array.attach_grad()
    with mx.autograd.record():
        out = nd.sort(array, axis, ascending)
    if dtype.startswith("float"):
        weights = RNG.random(shape, dtype)
        out.backward(nd.array(weights, dtype=dtype))
        back = np.zeros_like(values)
        np.put_along_axis(back, order(values, ascending, axis), weights, axis)
        np.testing.assert_array_equal(array.grad.asnumpy(), back)


def against_pivots(n, lanes):
    """Adversarial numbers: pivots are always the largest of the remaining elements."""
    slots, values, top = list(range(n)), {}, n
    while len(slots) > 8 * lanes and len(values) < n // 2:
        size = len(slots)
        drawn = [slots[size // (2 * lanes) + i * (size // lanes)] for i in range(lanes)]
        for slot in drawn:
            if slot not in values:
                top -= 1
                values[slot] = top
        pivot = sorted(values[slot] for slot in drawn)[lanes // 2]
        slots = [slot for slot in slots if values.get(slot, -1) <= pivot]
    low = iter(range(n))
    return [values[slot] if slot in values else next(low) for slot in range(n)]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("n", [2, 17, 65, 128, 129, 400, 3000, 5000, 70001])
@pytest.mark.parametrize("dtype", ["float32", "int32", "float64", "int64"])
def test_sorts_one_line(dtype, n, threads):
    lines = [
        rows(dtype, n),
        RNG.permutation(n),
        np.arange(n),
        np.arange(n, 0, -1),
        np.zeros(n),
        np.arange(n) % 3,
    ]
    if n == 3000:
        lines += [against_pivots(n, lanes) for lanes in (16, 8)]
    before = mx.util.set_num_threads(threads)
    try:
        for line in lines:
            values = np.asarray(line, dtype)
            actual = nd.sort(nd.array(values, dtype=dtype)).asnumpy()
            np.testing.assert_array_equal(actual, np.sort(values))
            down = nd.sort(nd.array(values, dtype=dtype), is_ascend=False).asnumpy()
            np.testing.assert_array_equal(down, values[order(values, False)])
    finally:
        mx.util.set_num_threads(before)
