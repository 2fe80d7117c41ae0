"""Binary search and functions based on it, on arrays of many blocks, against NumPy."""

import numpy as onp
import pytest

from mxcy import autograd, np


def _pair(values):
    values = onp.asarray(values)
    return values, np.array(values, dtype=values.dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "int8"])
@pytest.mark.parametrize("length", [0, 1, 2, 63, 1000])
def test_places_in_sorted_arrays(dtype, length):
    random = onp.random.RandomState(length)
    ordered, ours = _pair(onp.sort(random.randint(-100, 100, length)).astype(dtype))
    keys, our_keys = _pair(random.randint(-120, 120, (7, 131)).astype(dtype))
    for side in ("left", "right"):
        places = np.searchsorted(ours, our_keys, side)
        assert places.dtype == onp.int64
        onp.testing.assert_array_equal(places.asnumpy(), onp.searchsorted(ordered, keys, side))


def test_nan_is_the_largest():
    ordered, ours = _pair([-onp.inf, -0.0, 0.0, 2.0, onp.inf, onp.nan, onp.nan])
    keys, our_keys = _pair([onp.nan, onp.inf, -onp.inf, -0.0, 1.0, 3.0])
    for side in ("left", "right"):
        places = np.searchsorted(ours, our_keys, side).asnumpy()
        onp.testing.assert_array_equal(places, onp.searchsorted(ordered, keys, side))


@pytest.mark.parametrize("options", [{}, {"left": -9.0}, {"right": 9.0}, {"period": 1.5}])
@pytest.mark.parametrize("points", [1, 2, 300])
def test_interpolated_values(points, options):
    random = onp.random.RandomState(points)
    xs, our_xs = _pair(onp.sort(random.rand(points)))
    ys, our_ys = _pair(random.rand(points))
    keys, our_keys = _pair(onp.concatenate([random.rand(500) * 1.4 - 0.2, xs, [onp.nan, onp.inf]]))
    with onp.errstate(invalid="ignore"):
        want = onp.interp(keys, xs, ys, **options)
        actual = np.interp(our_keys, our_xs, our_ys, **options).asnumpy()
    onp.testing.assert_allclose(actual, want, 1e-14)


def test_floats_among_others():
    random = onp.random.RandomState(3)
    values, ours = _pair(random.randint(0, 50, (20, 30)).astype("float32"))
    others, our_others = _pair(onp.array([3, 7, 7, onp.nan, -1], "float32"))
    onp.testing.assert_array_equal(np.isin(ours, our_others).asnumpy(), onp.isin(values, others))
    values[0, 0] = onp.nan
    actual = np.isin(np.array(values), our_others, invert=True).asnumpy()
    onp.testing.assert_array_equal(actual, onp.isin(values, others, invert=True))


@pytest.mark.parametrize("decimals", [-2, 0, 1, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rounded_numbers_have_numpys_bits(decimals, dtype):
    values, ours = _pair((onp.random.RandomState(1).rand(1000) * 2000 - 1000).astype(dtype))
    assert np.round(ours, decimals).asnumpy().tobytes() == onp.round(values, decimals).tobytes()


@pytest.mark.parametrize("ends", [(0, 1), (-3.7, 5.1), (2.0, 2.0), (1e30, -1e30)])
def test_spaced_numbers_have_numpys_bits(ends):
    for endpoint in (True, False):
        actual = np.linspace(*ends, 5001, endpoint, dtype="float64").asnumpy()
        assert actual.tobytes() == onp.linspace(*ends, 5001, endpoint).tobytes()


def test_weighted_counts_have_the_same_bits_when_recorded():
    random = onp.random.RandomState(2)
    numbers, weights = np.array(random.randint(0, 9, 5000)), np.array(random.rand(5000))
    assert weights.dtype == onp.float32
    plain = np.bincount(numbers, weights)
    weights.attach_grad()
    with autograd.record():
        recorded = np.bincount(numbers, weights)
        total = (recorded * np.arange(9)).sum()
    total.backward()
    assert recorded.dtype == plain.dtype
    assert recorded.asnumpy().tobytes() == plain.asnumpy().tobytes()
    onp.testing.assert_array_equal(weights.grad.asnumpy(), numbers.asnumpy())
