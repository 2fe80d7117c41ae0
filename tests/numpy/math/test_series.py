"""Integrals, cumulative sums and unwrapped angles, against NumPy's."""

import numpy as onp
import pytest

import mxcy as mx
from tests.numpy.slopes import check_gradient

np = mx.np
VALUES = onp.random.RandomState(3).uniform(-9, 9, (3, 6))


def close(actual, expected):
    assert isinstance(actual, np.ndarray) and actual.shape == expected.shape
    onp.testing.assert_allclose(actual.asnumpy(), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_integrals(axis):
    array, extent = np.array(VALUES, "float64"), VALUES.shape[axis]
    places = onp.arange(extent) ** 2.0
    close(np.trapezoid(array, axis=axis), onp.trapezoid(VALUES, axis=axis))
    close(np.trapz(array, dx=0.5, axis=axis), onp.trapezoid(VALUES, dx=0.5, axis=axis))
    close(np.trapz(array, places, axis=axis), onp.trapezoid(VALUES, places, axis=axis))
    close(np.trapz(array, VALUES, axis=axis), onp.trapezoid(VALUES, VALUES, axis=axis))
    check_gradient(lambda y, x: np.trapz(y, x, axis=axis), VALUES, places)


@pytest.mark.parametrize("axis", [0, 1])
def test_angles(axis):
    array = np.array(VALUES, "float64")
    for keywords in ({}, {"discont": 4.0}, {"period": 4.0}):
        close(np.unwrap(array, axis=axis, **keywords), onp.unwrap(VALUES, axis=axis, **keywords))
    check_gradient(lambda p: np.unwrap(p, axis=axis), VALUES)
    whole = onp.array([0, 3, 1, 7, 2])
    actual = np.unwrap(np.array(whole, "int64"), period=4)
    assert actual.dtype == "int64"
    close(actual, onp.unwrap(whole, period=4))


def test_running_sums():
    array = np.array(VALUES, "float64")
    for name in ("cumulative_sum", "cumulative_prod"):
        for initial in (False, True):
            keywords = {"axis": 1, "include_initial": initial}
            close(getattr(np, name)(array, **keywords), getattr(onp, name)(VALUES, **keywords))
        with pytest.raises(ValueError, match="axis"):
            getattr(np, name)(array)
        assert getattr(np, name)(np.array([2.0, 3])).shape == (2,)


def test_fractions_and_exponents():
    for dtype in ("float16", "float32", "float64"):
        info = onp.finfo(dtype)
        values = onp.array([0, -0.3, 8, info.max, info.tiny, -info.smallest_subnormal], dtype)
        fractions, exponents = np.frexp(np.array(values, dtype))
        expected = onp.frexp(values)
        assert fractions.dtype == dtype and exponents.dtype == "int32"
        assert exponents.asnumpy().tolist() == expected[1].tolist()
        assert fractions.asnumpy().tolist() == expected[0].tolist()
    assert np.frexp(np.array([onp.inf]))[0].item() == onp.inf
    check_gradient(lambda x: np.frexp(x)[0], onp.array([0.3, -5.5]))
