"""Statistics against NumPy's, and their gradients against finite differences."""

import numpy as onp
import pytest

import mxcy as mx
from mxcy import autograd
from tests.numpy.slopes import check_gradient

np = mx.np
VALUES = onp.random.RandomState(5).uniform(-2, 2, (3, 5))


def close(actual, expected, rtol=1e-6):
    expected = onp.asarray(expected)
    assert isinstance(actual, np.ndarray) and actual.shape == expected.shape
    onp.testing.assert_allclose(actual.asnumpy(), expected, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("name", ["std", "var"])
@pytest.mark.parametrize("axis", [None, 0, (0, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_variances(name, axis, keepdims):
    ours, theirs = getattr(np, name), getattr(onp, name)
    for less in (0, 1):
        expected = theirs(VALUES, axis, ddof=less, keepdims=keepdims)
        array = np.array(VALUES, "float64")
        close(ours(array, axis, correction=less, keepdims=keepdims), expected)
        close(ours(array, axis=axis, ddof=less, keepdims=keepdims), expected)
        close(getattr(array, name)(axis, correction=less, keepdims=keepdims), expected)
    mask = VALUES > -1.5
    close(
        ours(np.array(VALUES, "float64"), axis, where=mask, keepdims=keepdims),
        theirs(VALUES, axis, where=mask, keepdims=keepdims),
    )
    check_gradient(lambda x: ours(x, axis, correction=1, keepdims=keepdims), VALUES)


def test_variances_of_integers_and_empty_arrays():
    assert np.var(np.array([1, 2, 4], "int32")).dtype == "float32"
    close(np.var(np.array([1, 2, 4], "int32")), onp.float32(14 / 9))
    assert onp.isnan(np.std(np.ones((2, 0))).item()) and onp.isnan(
        np.var(np.ones(1), ddof=1).item()
    )
    array = np.ones(3)
    array.attach_grad()
    with autograd.record():
        spread = np.std(array)
    spread.backward()
    assert array.grad.tolist() == [0, 0, 0]


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions_of_extremes(name, axis):
    values = VALUES.round()
    values[1, 2] = onp.nan
    actual = getattr(np, name)(np.array(values), axis)
    assert actual.dtype == "int64"
    close(actual, getattr(onp, name)(values, axis))
    close(getattr(np.array(values), name)(axis), getattr(onp, name)(values, axis))
    with pytest.raises(mx.MXNetError, match="empty"):
        getattr(np, name)(np.zeros((0, 2)), 0)


def test_average():
    array, weights = np.array(VALUES, "float64"), onp.arange(1.0, 6)
    close(np.average(array), VALUES.mean())
    close(np.average(array, 1, weights), onp.average(VALUES, 1, weights))
    actual, total = np.average(array, 1, weights, returned=True)
    close(total, [15, 15, 15])
    close(actual, onp.average(VALUES, 1, weights))
    close(
        np.average(array, (0, 1), VALUES**2, keepdims=True),
        onp.average(VALUES, (0, 1), VALUES**2, keepdims=True),
    )
    assert np.average(np.array([1, 2], "int32")).item() == 1.5
    check_gradient(lambda x, w: np.average(x, 1, w), VALUES, weights)
    check_gradient(lambda x, w: np.average(x, 1, w, returned=True)[1], VALUES, weights)
    check_gradient(lambda x, w: np.average(x, None, w), VALUES, VALUES**2 + 1)
    with pytest.raises(mx.MXNetError):
        np.average(array, 1, onp.ones(3))


@pytest.mark.parametrize("method", ["linear", "lower", "higher", "midpoint", "nearest"])
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
def test_percentiles(method, axis):
    array = np.array(VALUES, "float64")
    for q in (30, 50.0, [10, 35], [[0.0], [100.0]]):
        expected = onp.percentile(VALUES, q, axis, method=method)
        close(np.percentile(array, q, axis, interpolation=method), expected)
        shares = onp.divide(q, 100)
        close(np.quantile(array, shares, axis, method=method), expected)
    kept = onp.percentile(VALUES, 40, axis, method=method, keepdims=True)
    close(np.percentile(array, 40, axis, interpolation=method, keepdims=True), kept)
    check_gradient(lambda x: np.percentile(x, 30, axis, interpolation=method), VALUES)
    check_gradient(lambda x: np.percentile(x, [30, 60], axis, interpolation=method), VALUES)


def test_median():
    for values in (VALUES, VALUES[:, :4], onp.array([3, 1, 2]), onp.array(4.0)):
        close(np.median(np.array(values, "float64")), onp.median(values))
    close(np.median(np.array(VALUES, "float64"), 1), onp.median(VALUES, 1))
    assert np.median(np.array([1, 2], "int32")).dtype == "float32"
    check_gradient(lambda x: np.median(x, axis=1), VALUES[:, :4])
    out = np.zeros(3)
    assert np.median(np.array(VALUES), 1, out=out) is out
    for q in (101, -1, [50, 120]):
        with pytest.raises(mx.MXNetError):
            np.percentile(np.ones(3), q).asnumpy()
    with pytest.raises(mx.MXNetError):
        np.percentile(np.zeros(0), 50)
    for axis, keepdims in ((None, False), (0, True)):
        middle = np.median(np.zeros((0, 3)), axis, keepdims=keepdims)
        assert middle.shape == ((1, 3) if keepdims else ()) and np.isnan(middle).all()
    assert np.median(np.zeros((0, 3)), 1).shape == (0,)


def test_spans_and_counts():
    array = np.array(VALUES, "float64")
    close(np.ptp(array, 1), onp.ptp(VALUES, 1))
    close(array.ptp(0, keepdims=True), onp.ptp(VALUES, 0, keepdims=True))
    check_gradient(lambda x: np.ptp(x, 1), VALUES)
    counted = np.count_nonzero(array > 0, axis=1)
    assert counted.dtype == "int64"
    close(counted, onp.count_nonzero(VALUES > 0, axis=1))


@pytest.mark.parametrize("dtype", ["bool", "int32", "float32", "float64"])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_running_sums_and_products(dtype, axis):
    values = (VALUES * 2).astype(dtype)
    for name in ("cumsum", "cumprod"):
        actual = getattr(np, name)(np.array(values, dtype), axis)
        close(actual, getattr(onp, name)(values, axis), 1e-5)
        assert actual.dtype == ("int64" if dtype == "bool" else dtype)
        assert getattr(np, name)(np.array(values, dtype), axis, "float64").dtype == "float64"
        check_gradient(lambda x, name=name: getattr(np, name)(x, axis), VALUES)
    holes = VALUES.copy()
    holes[0, 1] = holes[1, 1] = holes[1, 3] = 0
    check_gradient(lambda x: np.cumprod(x, axis), holes)
    assert np.cumsum(np.array(3.0)).shape == (1,)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", [3, 7, 1000, 70000])
def test_numbers_at_the_bounds_of_intervals(count, dtype):
    bounds = onp.linspace(-0.3, 1.7, count + 1).astype(dtype)
    some = onp.random.RandomState(0).choice(bounds, 3000)
    below = onp.nextafter(some, onp.asarray(-9, dtype))
    values = onp.concatenate([some, below, bounds[[0, -1]], onp.array([onp.nan, -5, 5], dtype)])
    actual, ends = np.histogram(np.array(values, dtype=dtype), count, (-0.3, 1.7))
    assert actual.tolist() == onp.histogram(values, bounds)[0].tolist()
    onp.testing.assert_array_equal(ends.asnumpy(), bounds)


def test_histograms():
    array = np.array(VALUES, "float64")
    for arguments in ((4,), (4, (0, 1)), ([-2, 0, 1.5],), ("auto",)):
        for actual, expected in zip(
            np.histogram(array, *arguments), onp.histogram(VALUES, *arguments), strict=True
        ):
            close(actual, expected)
    actual, _ = np.histogram(array, 3, density=True, weights=VALUES**2)
    close(actual, onp.histogram(VALUES, 3, density=True, weights=VALUES**2)[0])
    counts, bounds = np.histogram(np.array([1, 2, 2, 5], "int32"), 4)
    assert counts.tolist() == [1, 2, 0, 1] and bounds.tolist() == [1, 2, 3, 4, 5]
    assert np.histogram(np.zeros(0), 2)[0].tolist() == [0, 0]


def test_bincount():
    numbers = np.array([0, 2, 2, 4], "int64")
    assert np.bincount(numbers).tolist() == [1, 0, 2, 0, 1]
    assert np.bincount(numbers, minlength=7).shape == (7,)
    assert np.bincount(np.zeros(0, "int64")).shape == (0,)
    check_gradient(lambda w: np.bincount(numbers, w), onp.array([0.5, 1, 2, -1]))
    with pytest.raises(ValueError, match="negative"):
        np.bincount(np.array([-1], "int32"))
    assert np.bincount(np.array([300_000], "int32")).shape == (300_001,)


def test_weights_are_summed():
    random = onp.random.RandomState(5)
    numbers = random.randint(0, 9, 200)
    for dtype in ("float32", "float64", "int32"):
        weights = random.randint(-4, 9, 200).astype(dtype)
        sums = np.bincount(np.array(numbers, "int64"), np.array(weights, dtype), minlength=12)
        assert sums.dtype == dtype
        assert sums.tolist() == onp.bincount(numbers, weights, 12).tolist()
        with autograd.record():
            assert np.bincount(np.array(numbers), np.array(weights, dtype)).size == 9
    with pytest.raises(ValueError, match="negative"):
        np.bincount(np.array([-1], "int32"), np.ones(1))


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "int64"])
@pytest.mark.parametrize("size", [1, 10, 3001])
@pytest.mark.parametrize("top", [1, 5, 100])
def test_numbers_are_counted(dtype, size, top):
    numbers = onp.random.RandomState(3).randint(0, top, size).astype(dtype)
    counts = np.bincount(np.array(numbers, dtype))
    assert counts.dtype == onp.int64
    assert counts.tolist() == onp.bincount(numbers).tolist()


@pytest.mark.parametrize(
    "keywords",
    [
        {},
        {"bias": True},
        {"ddof": 2},
        {"rowvar": False},
        {"y": VALUES**2},
        {"fweights": [1, 2, 1, 3, 1]},
        {"aweights": [1, 0.5, 2, 1, 1]},
        {"fweights": [1, 2, 1, 3, 1], "aweights": [1, 0.5, 2, 1, 1]},
    ],
)
def test_covariances(keywords):
    close(np.cov(np.array(VALUES, "float64"), **keywords), onp.cov(VALUES, **keywords))


def test_correlations():
    array = np.array(VALUES, "float64")
    close(np.corrcoef(array), onp.corrcoef(VALUES))
    close(np.corrcoef(array, rowvar=False), onp.corrcoef(VALUES, rowvar=False))
    close(np.cov(array[0]), onp.cov(VALUES[0]))
    check_gradient(np.cov, VALUES)
    check_gradient(np.corrcoef, VALUES)
    for mode in ("valid", "same", "full"):
        for i, j in ((3, 5), (5, 3), (4, 2), (1, 1), (5, 5)):
            a, v = VALUES[0][:i], VALUES[1][:j]
            close(
                np.correlate(np.array(a, "float64"), np.array(v, "float64"), mode),
                onp.correlate(a, v, mode),
            )
    check_gradient(lambda a, v: np.correlate(a, v, "full"), VALUES[0], VALUES[1][:2])


def test_sums_are_rounded_once():
    x = onp.random.default_rng(3).normal(size=(3, 200)).astype("float32")
    actual = np.sum(np.array(x), axis=1, dtype="float16")
    assert actual.dtype == "float16"
    onp.testing.assert_allclose(actual.asnumpy(), x.sum(1), rtol=1e-3)


@pytest.mark.parametrize(
    ("own", "asked"), [("float32", "int32"), ("int32", "float32"), ("int8", "int64")]
)
def test_slopes_of_sums_in_other_types(own, asked):
    x = np.array([[1, 2], [3, 4]], own)
    x.attach_grad()
    with autograd.record():
        y = np.sum(x, axis=0, dtype=asked)
    y.backward()
    assert y.dtype == asked and x.grad.dtype == own
    assert x.grad.asnumpy().tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize("axis", [0, -1, (0,), (-1,), ()])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("name", "sum prod max min mean std var any all".split())
def test_reductions_of_0d_arrays(name, keepdims, axis):
    array = np.array(2.0)
    array.attach_grad()
    with autograd.record():
        actual = getattr(np, name)(array, axis=axis, keepdims=keepdims)
    assert actual.shape == () and actual.item() == {"std": 0, "var": 0, "any": 1, "all": 1}.get(
        name, 2
    )
    if name in ("sum", "prod", "max", "mean"):
        actual.backward()
        assert array.grad.item() == 1
    with pytest.raises((mx.MXNetError, ValueError), match="axis"):
        getattr(np, name)(array, axis=1)


def test_numpys_types_hold_for_densities_and_chosen_means():
    with mx.util.np_default_dtype(True):
        counts, bounds = np.histogram([1, 2, 1, 5], bins=[0, 2, 4, 6], density=True)
        assert (counts.dtype, bounds.dtype) == ("float64", "int64")
        assert np.mean([1, 2, 3], where=np.array([True, True, False])).dtype == "float64"


@pytest.mark.parametrize("error", [ValueError, mx.MXNetError])
@pytest.mark.parametrize(
    "call",
    [
        lambda: np.percentile(np.ones(3), 101),
        lambda: np.percentile(np.ones(3), np.array([120.0])),
        lambda: np.quantile(np.ones(3), 2),
        lambda: np.quantile(np.ones(3), [0.5, -1.0]),
        lambda: np.bincount(np.array([1, 2]), minlength=-1),
        lambda: np.bincount(np.array([-1, 2])),
        lambda: np.polyval(np.ones((2, 2)), np.ones(2)),
        lambda: np.cross(np.ones(4), np.ones(4)),
    ],
)
def test_refusals_are_value_errors_too(call, error):
    with pytest.raises(error):
        call().asnumpy()
