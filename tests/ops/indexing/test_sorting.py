"""Sorting of rows of all lengths and patterns, against NumPy."""

import numpy as np
import pytest

import mxcy as mx

nd = mx.nd
DTYPES = ("float32", "int32", "int64", "float64")
PATTERNS = ("any", "special", "few", "equal", "one", "ascending", "descending", "roof", "saw")


def line(pattern, dtype, n):
    """`n` elements of a pattern."""
    random = np.random.RandomState(n + 7)
    real = dtype[0] == "f"
    places = np.arange(n)
    if pattern == "few":
        elements = random.randint(0, 5, n)
    elif pattern == "equal":
        elements = np.full(n, 3)
    elif pattern == "one":
        elements = (places == n // 2) * 1
    elif pattern == "ascending":
        elements = places
    elif pattern == "descending":
        elements = places[::-1]
    elif pattern == "roof":
        elements = np.minimum(places, n - places)
    elif pattern == "saw":
        elements = places % 37
    elif real:
        elements = random.randn(n) * random.choice([1e-30, 1, 1e30], n)
    else:
        limits = np.iinfo(dtype)
        elements = random.randint(limits.min, limits.max, n, dtype)
    elements = elements.astype(dtype)
    if pattern == "special" and n:
        limits = (
            (np.nan, np.inf, -np.inf, 0.0, -0.0) if real else (limits.min, limits.max, 0, -1, 1)
        )
        for value in limits:
            elements[random.randint(0, n, n // 9 + 1)] = value
    return elements


def bad_for_samples(n, lanes, dtype):
    """Adversarial elements: the median of `lanes` regular samples is always among the smallest."""
    values, left, smallest = np.full(n, n), np.arange(n), 0
    while len(left) > 8 * lanes:
        if len(left) < 128 * lanes:
            drawn = len(left) // (2 * lanes) + np.arange(lanes) * (len(left) // lanes)
        else:
            parts = np.arange(4)[:, None] * (len(left) // 4)
            drawn = (parts + np.arange(lanes) * (len(left) // 4 // lanes)).ravel()
        values[left[drawn]] = smallest + np.arange(len(drawn))
        left = np.delete(left, drawn[: len(drawn) // 2 + 1])
        smallest += len(drawn) // 2 + 1
    return values.astype(dtype)


def check(elements):
    """Compare both orders with NumPy's, including argsort."""
    given = nd.array(elements, dtype=elements.dtype)
    for ascending in (True, False):
        expected = np.sort(elements)[:: 1 if ascending else -1]
        actual = nd.sort(given, is_ascend=ascending).asnumpy()
        np.testing.assert_array_equal(actual, expected)
        positions = nd.argsort(given, is_ascend=ascending, dtype="int64").asnumpy()
        if ascending:
            stable = np.argsort(elements, kind="stable")
        else:
            stable = (len(elements) - 1 - np.argsort(elements[::-1], kind="stable"))[::-1]
        np.testing.assert_array_equal(positions, stable)


@pytest.mark.parametrize("dtype", DTYPES)
def test_lines_of_all_lengths(dtype):
    for n in range(1, 601):
        check(line(PATTERNS[n % 2], dtype, n))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("n", [255, 1000, 4097, 40_001])
def test_patterns(dtype, pattern, n):
    check(line(pattern, dtype, n))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("pattern", ["any", "special", "few", "descending"])
def test_lines_of_several_threads(dtype, threads, pattern):
    before = mx.util.set_num_threads(threads)
    try:
        check(line(pattern, dtype, 300_001))
    finally:
        mx.util.set_num_threads(before)


@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_lines_beyond_caches(dtype):
    elements = line("special", dtype, 2_100_001)
    actual = nd.sort(nd.array(elements, dtype=dtype)).asnumpy()
    np.testing.assert_array_equal(actual, np.sort(elements))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lanes", [8, 16])
def test_inputs_with_misleading_samples(dtype, lanes):
    check(bad_for_samples(20_000, lanes, dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_both_zeros_stay(dtype):
    elements = np.zeros(5000, dtype)
    if elements.dtype.kind == "f":
        elements[::3] = -0.0
    actual = nd.sort(nd.array(elements, dtype=dtype)).asnumpy()
    assert np.signbit(actual).sum() == np.signbit(elements).sum()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3, 2000), (2000, 3), (2, 1500, 2), (40, 70)])
def test_interleaved_lines(dtype, shape):
    elements = line("special", dtype, int(np.prod(shape))).reshape(shape)
    given = nd.array(elements, dtype=dtype)
    for axis in range(len(shape)):
        np.testing.assert_array_equal(
            nd.sort(given, axis=axis).asnumpy(), np.sort(elements, axis=axis)
        )
        np.testing.assert_array_equal(
            nd.argsort(given, axis=axis, dtype="int64").asnumpy(),
            np.argsort(elements, axis=axis, kind="stable"),
        )
