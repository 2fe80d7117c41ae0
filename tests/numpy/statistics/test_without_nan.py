"""Reductions that skip NaN, against NumPy's."""

import warnings

import numpy as onp
import pytest

import mxcy as mx
from tests.numpy.slopes import check_gradient

np = mx.np
VALUES = onp.array(
    [[1.0, onp.nan, 3, -2], [onp.nan, onp.nan, onp.nan, onp.nan], [0.5, 2, onp.inf, 1]]
)
WHOLE = onp.array([[1, 2], [3, 0]], "int32")


def close(actual, expected):
    expected = onp.asarray(expected)
    assert isinstance(actual, np.ndarray) and actual.shape == expected.shape
    onp.testing.assert_allclose(actual.asnumpy(), expected, rtol=1e-6)


def by_numpy(name, *args, **kwargs):
    with warnings.catch_warnings(), onp.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return getattr(onp, name)(*args, **kwargs)


NAMES = ("nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd", "nanmedian")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions(name, axis, keepdims):
    for values in (VALUES, WHOLE, VALUES[:, 3:]):
        expected = by_numpy(name, values, axis, keepdims=keepdims)
        close(getattr(np, name)(np.array(values, values.dtype), axis, keepdims=keepdims), expected)


@pytest.mark.parametrize("name", NAMES)
def test_gradients(name):
    values = onp.array([[1.0, onp.nan, 3, -2], [0.25, 2, 7, 1]])
    known = ~onp.isnan(values)

    def function(x):
        holes = np.full((8,), onp.nan, dtype="float64")
        return getattr(np, name)(np.where(known, spread(x), holes.reshape((2, 4))), axis=1)

    def spread(x):
        places = onp.cumsum(known.reshape(-1)) - 1
        return x[np.array(places, "int64")].reshape((2, 4))

    check_gradient(function, values[known])


def test_masks_and_degrees_of_freedom():
    array, mask = np.array(VALUES, "float64"), onp.array([True, True, False, True])
    close(np.nansum(array, 1, where=mask), by_numpy("nansum", VALUES, 1, where=mask))
    close(np.nanmean(array, 1, where=mask), by_numpy("nanmean", VALUES, 1, where=mask))
    for ddof in (1, 2, 3):
        close(np.nanvar(array, 1, ddof=ddof), by_numpy("nanvar", VALUES, 1, ddof=ddof))
    out = np.zeros(3, "float64")
    assert np.nanmax(array, 1, out=out) is out and out[0].item() == 3


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_running_ones(axis):
    array = np.array(VALUES, "float64")
    for name in ("nancumsum", "nancumprod"):
        close(getattr(np, name)(array, axis), getattr(onp, name)(VALUES, axis))


def test_positions():
    values = VALUES[[0, 2]]
    array = np.array(values)
    for name in ("nanargmax", "nanargmin"):
        for axis in (None, 0, 1):
            close(getattr(np, name)(array, axis), getattr(onp, name)(values, axis))
        with pytest.raises(ValueError, match="NaN"):
            getattr(np, name)(np.array(VALUES), 1)


@pytest.mark.parametrize("method", ["linear", "lower", "higher", "midpoint", "nearest"])
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_quantiles(method, axis, keepdims):
    values = VALUES[[0, 2]]
    values[1, 2] = 9  # between infinity and a number NumPy has NaN
    array = np.array(values, "float64")
    for q in (0.3, [0.0, 1.0], [[0.25]]):
        expected = by_numpy("nanquantile", values, q, axis, method=method, keepdims=keepdims)
        close(np.nanquantile(array, q, axis, method=method, keepdims=keepdims), expected)
        percents = onp.multiply(q, 100)
        close(np.nanpercentile(array, percents, axis, method=method, keepdims=keepdims), expected)
    with pytest.raises(ValueError):
        np.nanquantile(array, 1.5)
    with pytest.raises(ValueError, match="method"):
        np.nanquantile(array, 0.5, method="wrong")
