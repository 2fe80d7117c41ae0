"""Comparisons of whole arrays and up to a tolerance, against NumPy's."""

import itertools

import numpy as onp
import pytest

import mxcy as mx

np = mx.np
GIVEN = (
    onp.array([1.0, onp.nan, onp.inf, 0]),
    onp.array([1 + 1e-9, onp.nan, onp.inf, 1e-9]),
    onp.array([1, 2, -5, 0], "int32"),
    onp.array([True, False, True, False]),
    onp.array([255, 0, 1, 2], "uint8"),
    onp.array([[1.0, -onp.inf, 3, 0]], "float32"),
    onp.array(1.0),
    onp.array([], "float32"),
)
PAIRS = [pair for pair in itertools.product(GIVEN, GIVEN)]


@pytest.mark.parametrize("first, second", PAIRS)
def test_whole_arrays(first, second):
    ours = [np.array(values, values.dtype) for values in (first, second)]
    for equal_nan in (False, True):
        expected = onp.array_equal(first, second, equal_nan)
        assert np.array_equal(*ours, equal_nan) is bool(expected)
    assert np.array_equiv(*ours) is bool(onp.array_equiv(first, second))


@pytest.mark.parametrize("first, second", PAIRS)
@pytest.mark.parametrize("keywords", [{}, {"equal_nan": True}, {"rtol": 0.5, "atol": 0.25}])
def test_tolerances(first, second, keywords):
    try:
        onp.broadcast_shapes(first.shape, second.shape)
    except ValueError:
        return
    ours = [np.array(values, values.dtype) for values in (first, second)]
    actual, expected = np.isclose(*ours, **keywords), onp.isclose(first, second, **keywords)
    assert actual.dtype == bool and actual.shape == expected.shape
    assert actual.asnumpy().tolist() == expected.tolist()
    assert np.allclose(*ours, **keywords) is bool(expected.all())


def test_lists_and_numbers():
    assert np.allclose([1.0, 2], [1.0, 2.0000001]) and not np.allclose(1.0, 2.0)
    assert np.array_equal([1, 2], onp.array([1, 2])) and np.array_equiv([1, 1], 1)
