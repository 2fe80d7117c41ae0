"""Distinct elements and arrays as sets, against NumPy's."""

import itertools

import numpy as onp
import pytest

import mxcy as mx

np = mx.np
GIVEN = (
    onp.array([3, 1, 1, 2, 3], "int32"),
    onp.array([[2.5, 1], [onp.inf, 1]], "float32"),
    onp.array([], "float32"),
    onp.array([True, False, True]),
    onp.array(7, "int64"),
)


def same(actual, expected):
    assert isinstance(actual, np.ndarray)
    assert actual.shape == expected.shape
    onp.testing.assert_array_equal(actual.asnumpy(), expected)


@pytest.mark.parametrize("values", GIVEN)
def test_distinct_elements(values):
    array = np.array(values, values.dtype)
    same(np.unique(array), onp.unique(values))
    assert np.unique(array).dtype == values.dtype
    actual = np.unique(array, True, True, True)
    expected = onp.unique(values, True, True, True)
    for part, other in zip(actual, expected, strict=True):
        same(part, other)
    every = np.unique_all(array)
    same(every.values, expected[0])
    same(every.inverse_indices, onp.unique_inverse(values).inverse_indices)
    same(np.unique_inverse(array)[1], onp.unique_inverse(values)[1])
    same(np.unique_counts(array).counts, expected[3])
    same(np.unique_values(array), expected[0])


def test_distinct_parts():
    values = onp.array([[1, 2], [0, 1], [1, 2]])
    array = np.array(values, "int64")
    actual, inverse = np.unique(array, return_inverse=True, axis=0)
    same(actual, onp.unique(values, axis=0))
    assert inverse.tolist() == [1, 0, 1]
    same(np.unique(array, axis=1), values)
    with pytest.raises(mx.MXNetError):
        np.unique(array, axis=2)


@pytest.mark.parametrize("first, second", list(itertools.product(GIVEN, GIVEN)))
def test_sets(first, second):
    ours = [np.array(values, values.dtype) for values in (first, second)]
    for name in ("union1d", "intersect1d", "setdiff1d", "setxor1d"):
        same(getattr(np, name)(*ours), getattr(onp, name)(first, second))
    for invert in (False, True):
        expected = onp.isin(first, second, invert=invert)
        same(np.isin(*ours, invert=invert), expected)
        same(np.in1d(*ours, invert=invert), expected.reshape(-1))
    for part, other in zip(
        np.intersect1d(*ours, return_indices=True),
        onp.intersect1d(first, second, return_indices=True),
        strict=True,
    ):
        same(part, other)
    same(
        np.setdiff1d(*ours, assume_unique=True),
        first.reshape(-1)[~onp.isin(first, second).reshape(-1)],
    )


@pytest.mark.parametrize("shape", [(), (1,), (3, 4), (0, 3)])
def test_the_inverse_has_the_shape_of_the_input(shape):
    values = onp.arange(onp.prod(shape, dtype=int)).reshape(shape) % 3
    actual, first, inverse = np.unique(np.array(values, "int64"), True, True)
    assert inverse.shape == shape and first.ndim == 1
    if values.size:
        onp.testing.assert_array_equal(actual.asnumpy()[inverse.asnumpy()], values)


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "float16", "int8", "uint8", "int32", "int64", "bool"]
)
@pytest.mark.parametrize("shape", [(1,), (7,), (100,), (5, 9), (3, 2, 4), ()])
def test_distinct_elements_of_small_arrays(shape, dtype):
    x = onp.array(onp.random.default_rng(3).integers(-9, 9, shape)).astype(dtype)
    actual = np.unique(np.array(x, dtype=dtype))
    assert type(actual) is np.ndarray and actual.dtype == x.dtype
    onp.testing.assert_array_equal(actual.asnumpy(), onp.unique(x))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_distinct_elements_count_every_nan_as_one(dtype):
    x = onp.array([onp.nan, 2.0, -onp.inf, onp.nan, -0.0, 0.0, onp.inf, 2.0, -onp.nan], dtype)
    onp.testing.assert_array_equal(np.unique(np.array(x, dtype=dtype)).asnumpy(), onp.unique(x))


def test_distinct_elements_leave_their_array_alone():
    x = np.array([3.0, 1.0, 3.0])
    with mx.autograd.record():
        actual = np.unique(x)
    assert actual.tolist() == [1.0, 3.0] and x.tolist() == [3.0, 1.0, 3.0]
    actual[:] = 7
    assert x.tolist() == [3.0, 1.0, 3.0]


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "int32", "int64", "uint64"])
def test_unique_of_many_close_integers(kind):
    draw = onp.random.RandomState(5)
    for least, most in ((0, 100), (3, 4), (-50 if kind[0] == "i" else 30, 70)):
        elements = draw.randint(least, most, (130, 10)).astype(kind)
        array = np.array(elements, dtype=kind)
        assert np.unique(array).dtype == kind
        assert np.unique(array).tolist() == onp.unique(elements).tolist()
        choices = {"return_inverse": True, "return_counts": True}
        for actual, wanted in zip(
            np.unique(array, **choices), onp.unique(elements, **choices), strict=True
        ):
            assert actual.ravel().tolist() == wanted.ravel().tolist()
    high = onp.asarray([2**63 + 5] * 1200 + [2**63 + 7], "uint64")
    assert np.unique(np.array(high, dtype="uint64")).tolist() == [2**63 + 5, 2**63 + 7]
