"""The library's vector math functions: distance from the true value, special values, lengths.

Limits in units in the last place are data, ``tests/data/ulp_limits.csv``. The truth is NumPy one
precision up: float64 for float32, longdouble for float64.
"""

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from tests.ops.kernel_call import run_kernel

TABLE = Path(__file__).parents[1] / "data" / "ulp_limits.csv"
ROWS = [tuple(row.values()) for row in csv.DictReader(TABLE.read_text().splitlines())]
POINTS = 20000


def run(name, *inputs):
    """The result of a kernel on arrays of one shape and dtype."""
    return run_kernel(name, inputs, [np.empty_like(inputs[0])])


def sigmoid(x):
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, small) / (1 + small)


def each(function):
    return lambda x: np.array([function(float(value)) for value in x])


TRUTH = {
    "sigmoid": sigmoid,
    "softplus": lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "erf": each(math.erf),
    "gamma": each(math.gamma),
    "gammaln": each(math.lgamma),
}


def points(dtype, low, high, seed=11):
    """Numbers spread over an interval evenly and over its magnitudes evenly."""
    random = np.random.default_rng(seed)
    info = np.finfo(dtype)
    top = min(max(abs(low), abs(high)), float(info.max))
    size = np.exp(random.uniform(np.log(float(info.tiny)), np.log(top), POINTS))
    spread = np.where(random.random(POINTS) < 0.5, size, -size)
    spread = spread[(spread >= low) & (spread <= high)]
    even = random.random(POINTS)
    return np.concatenate([low * (1 - even) + high * even, spread]).astype(dtype)


def distance(got, truth):
    """How far `got` is from `truth` in units in the last place of the rounded truth."""
    rounded = truth.astype(got.dtype)
    unit = np.spacing(np.abs(rounded)).astype(np.longdouble)
    with np.errstate(invalid="ignore"):
        off = np.abs(got.astype(np.longdouble) - truth.astype(np.longdouble)) / unit
    same = (got == rounded) & ~np.isfinite(rounded) | np.isnan(got) & np.isnan(truth)
    return np.where(same, 0, off)


def wider(x):
    return x.astype(np.float64 if x.dtype == np.float32 else np.longdouble)


@pytest.mark.parametrize("kernel,dtype,low,high,limit", ROWS, ids=lambda value: str(value))
def test_accuracy(kernel, dtype, low, high, limit):
    x = points(dtype, float(low), float(high))
    with np.errstate(all="ignore"):
        if kernel == "power":
            y = np.random.default_rng(5).uniform(-12, 12, x.size).astype(dtype)
            got, truth = run(kernel, x, y), np.power(wider(x), wider(y))
            usual = np.abs(np.log2(truth)) < 125  # rounding into denormals has its own distances
            x, got, truth = x[usual], got[usual], truth[usual]
        elif kernel == "arctan2":
            y = np.random.default_rng(5).permutation(x)
            got, truth = run(kernel, x, y), np.arctan2(wider(x), wider(y))
            usual = np.abs(truth) >= np.finfo(dtype).tiny
            x, got, truth = x[usual], got[usual], truth[usual]
        else:
            got, truth = (run(kernel, x), TRUTH.get(kernel, getattr(np, kernel, None))(wider(x)))
        off = distance(got, truth)
    worst = np.argmax(off)
    assert off[worst] <= float(limit), (
        f"{kernel}({x[worst]!r}) is {got[worst]!r}, not {truth[worst]!r}"
    )


PAIRS = {"power", "arctan2"}  # of two operands
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.0, 1e30, -1e30, 1e-40, -1e-40]
SPECIAL += [math.inf, -math.inf, math.nan, 88.8, -88.8, 104.5, -104.5, 750.0, -750.0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kernel", sorted({row[0] for row in ROWS} - {"gamma", "gammaln", *PAIRS}))
def test_special_values(kernel, dtype):
    x = np.array(SPECIAL, dtype)
    with np.errstate(all="ignore"):
        got, truth = run(kernel, x), TRUTH.get(kernel, getattr(np, kernel, None))(wider(x))
        want = truth.astype(dtype)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    np.testing.assert_array_equal(np.isinf(got), np.isinf(want))
    real = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[real]), np.signbit(want[real]))
    np.testing.assert_array_max_ulp(got[real], want[real], 4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_power_has_the_corners_of_c(dtype):
    bases = np.array([0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, np.inf, -np.inf, np.nan], dtype)
    exponents = np.array([0.0, 1.0, 2.0, 3.0, 0.5, -1.0, -2.0, -3.0, -0.5, np.inf, -np.inf, np.nan])
    x, y = (a.ravel().copy() for a in np.meshgrid(bases, exponents.astype(dtype)))
    with np.errstate(all="ignore"):
        want = np.power(x, y)
    got = run("power", x, y)
    real = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[real]), np.signbit(want[real]))
    np.testing.assert_array_almost_equal_nulp(got[np.isfinite(want)], want[np.isfinite(want)], 1)
    odd = ~np.isfinite(want)
    np.testing.assert_array_equal(got[odd], want[odd])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_angles_have_the_corners_of_c(dtype):
    corners = np.array([0.0, -0.0, 1.0, -1.0, 1e-40, -1e-40, 1e30, np.inf, -np.inf, np.nan], dtype)
    y, x = (a.ravel().copy() for a in np.meshgrid(corners, corners))
    largest = np.finfo(dtype).max
    y, x = np.append(y, [largest, -largest]), np.append(x, [largest, largest / 2])
    want, got = np.arctan2(wider(y), wider(x)).astype(dtype), run("arctan2", y, x)
    real = ~np.isnan(want)
    np.testing.assert_array_equal(np.isnan(got), ~real)
    np.testing.assert_array_equal(np.signbit(got[real]), np.signbit(want[real]))
    np.testing.assert_array_max_ulp(got[real], want[real], 2)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("exponent", [2, 3, 0.5])
def test_usual_powers(exponent, dtype):
    """Whole vectors with the same exponent take a separate path."""
    rng = np.random.default_rng(4)
    corners = np.array([0.0, -0.0, 1e-30, -1e-30, 1e30, np.inf, -np.inf, np.nan, -1.0, -2.5])
    positive = np.exp(rng.uniform(-20, 20, 1000))
    x = np.concatenate([positive, -positive, np.resize(corners, 64)]).astype(dtype)
    y = np.full_like(x, exponent)
    with np.errstate(all="ignore"):
        want = np.power(wider(x), wider(y)).astype(dtype)
    got = run("power", x, y)
    real = np.isfinite(want)
    np.testing.assert_array_equal(got[~real], want[~real])
    np.testing.assert_array_equal(np.signbit(got[real]), np.signbit(want[real]))
    np.testing.assert_array_max_ulp(got[real], want[real], 1)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_erfinv_inverts_erf(dtype):
    tops = 1 - np.logspace(-15 if dtype == "float64" else -7, -0.01, 500)
    x = np.concatenate([-tops, tops, [0.0, -0.0]]).astype(dtype)
    back = np.array([math.erf(y) for y in run("erfinv", x).astype(float)])
    rest = np.array([math.erfc(abs(y)) for y in run("erfinv", x).astype(float)])
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(back, x, rtol=2 * eps)
    np.testing.assert_allclose(rest, 1 - np.abs(x.astype(float)), rtol=40 * eps, atol=2**-53)
    edges = run("erfinv", np.array([1, -1, 1.5, np.nan], dtype))
    np.testing.assert_array_equal(edges, [np.inf, -np.inf, np.nan, np.nan])


def test_digamma():
    # Euler's constant, and values that the recurrence and the reflection give from it.
    gamma = 0.57721566490153286
    x = np.array([1.0, 0.5, 2.0, 10.0, -0.5, 100.0])
    want = [
        -gamma,
        -gamma - 2 * math.log(2),
        1 - gamma,
        sum(1 / k for k in range(1, 10)) - gamma,
        2 - gamma - 2 * math.log(2),
        sum(1 / k for k in range(1, 100)) - gamma,
    ]
    np.testing.assert_allclose(run("digamma", x), want, rtol=1e-13)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_results_do_not_depend_on_the_length(dtype):
    x = np.random.default_rng(3).uniform(-5, 5, 70).astype(dtype)
    for kernel in ("exp", "tanh", "sin", "erf"):
        whole = run(kernel, x)
        for n in range(1, x.size):
            part = x[:n].copy()
            np.testing.assert_array_equal(run(kernel, part), whole[:n])
