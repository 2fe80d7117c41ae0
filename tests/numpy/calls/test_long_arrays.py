"""Code paths of long arrays: runs of many vectors, copies at any distance, blocks of rows."""

import numpy as onp
import pytest

import mxcy as mx

np = mx.np


def made(*shape, seed=0, dtype="float32"):
    return onp.random.default_rng(seed).uniform(-1, 1, shape).astype(dtype)


def same(got, want):
    onp.testing.assert_array_equal(got.asnumpy(), want)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "bool"])
@pytest.mark.parametrize("shift", [1, 3, 17, 64, 5000])
def test_roll_moves_by_any_distance(shift, dtype):
    x = (made(20011) * 100).astype(dtype)
    same(np.roll(np.array(x, dtype=dtype), shift), onp.roll(x, shift))
    y = x[:19998].reshape(6, 3333)
    same(np.roll(np.array(y, dtype=dtype), shift, axis=1), onp.roll(y, shift, axis=1))


@pytest.mark.parametrize("columns", [127, 128, 129, 515, 1003, 4099])
def test_rows_of_any_length_are_joined_and_cut(columns):
    x, y = made(5, columns), made(5, 3, seed=1)
    a, b = np.array(x), np.array(y)
    joined = onp.concatenate([y, x, y], axis=1)
    same(np.concatenate([b, a, b], axis=1), joined)
    for got, want in zip(
        np.split(np.array(joined), [3, 3 + columns], axis=1), (y, x, y), strict=True
    ):
        same(got, want)
    same(np.stack([a, a], axis=1), onp.stack([x, x], axis=1))
    same(np.tile(a, (2, 3)), onp.tile(x, (2, 3)))
    same(np.pad(a, ((1, 2), (3, 1))), onp.pad(x, ((1, 2), (3, 1))))
    same(np.tril(a, columns // 2), onp.tril(x, columns // 2))


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8"])
@pytest.mark.parametrize("times", [2, 3, 4, 5])
def test_repeat(times, dtype):
    x = (made(7, 331) * 100).astype(dtype)
    a = np.array(x, dtype=dtype)
    same(np.repeat(a, times, axis=1), onp.repeat(x, times, axis=1))
    same(np.repeat(a, times, axis=0), onp.repeat(x, times, axis=0))
    same(np.repeat(a, times), onp.repeat(x, times))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "int8"])
@pytest.mark.parametrize("columns", [5, 64, 65, 300, 1001])
def test_places_of_extremes_in_rows(columns, dtype):
    x = (made(9, columns) * 20).astype(dtype)  # with equal ones
    if x.dtype.kind == "f":
        x[3, columns // 2] = onp.nan
        x[4, [0, columns - 1]] = onp.nan
        x[5] = -onp.inf
        x[6] = onp.inf
        x[7, :-1] = 0.0
        x[7, -1] = -0.0
        x[8] = onp.nan
    a = np.array(x, dtype=dtype)
    same(np.argmax(a, axis=1), x.argmax(axis=1))
    same(np.argmin(a, axis=1), x.argmin(axis=1))


@pytest.mark.parametrize("n", [1, 1000, 1024, 5000, 100_003])
@pytest.mark.parametrize("scale", [1.0, 1e30, 1e-30, 1e-42])
def test_norms_of_floats_neither_overflow_nor_vanish(n, scale):
    x = (made(n, dtype="float64") * scale).astype("float32")
    x[::3] *= onp.float32(1e-5)
    want = onp.linalg.norm(x.astype("float64"))
    onp.testing.assert_allclose(np.linalg.norm(np.array(x)).item(), want, rtol=3e-7, atol=1e-45)


@pytest.mark.parametrize("wrong", [onp.nan, onp.inf])
def test_norms_of_nonfinite_values(wrong):
    x = made(3000)
    x[2500] = wrong
    onp.testing.assert_equal(np.linalg.norm(np.array(x)).item(), wrong)


@pytest.mark.parametrize("n", [63, 64, 65, 1000])
def test_truth_of_numbers(n):
    x = made(n)
    x[::7], x[1::7], x[2::7], x[3::7] = 0.0, -0.0, onp.nan, 1e-45
    a = np.array(x)
    same(a.astype(bool), x.astype(bool))
    same(np.isnan(a), onp.isnan(x))
    same(np.logical_not(a), onp.logical_not(x))
    same(np.logical_not(np.array(x > 0, dtype="bool")), ~(x > 0))
    whole = (x[~onp.isnan(x)] * 2).astype("int32")
    same(np.array(whole, dtype="int32").astype(bool), whole.astype(bool))


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
def test_elements_by_a_long_mask(dtype):
    x = (made(70_001) * 100).astype(dtype)
    mask = made(70_001, seed=1) > 0.3
    a, chosen = np.array(x, dtype=dtype), np.array(mask, dtype="bool")
    same(a[chosen], x[mask])
    same(np.where(chosen, a, 7), onp.where(mask, x, onp.array(7, dtype)))
    same(np.where(chosen, 7, a), onp.where(mask, onp.array(7, dtype), x))
    assert a[np.zeros(70_001, dtype=bool)].shape == (0,)


def test_elements_by_many_places():
    x, places = made(50_000), onp.random.default_rng(2).integers(-50_000, 50_000, 60_000)
    a, at = np.array(x), np.array(places, dtype="int64")
    same(a[at], x[places])
    same(np.take(a, at), x[places])
    same(np.take(a, at, mode="wrap"), x[places])
    same(np.take(a, at, mode="clip"), onp.take(x, places, mode="clip"))
    for wrong in (50_000, -50_001):
        at[59_999] = wrong
        with pytest.raises((IndexError, mx.MXNetError)):
            np.take(a, at).wait_to_read()


def test_gradients_of_elements_at_many_places():
    places = onp.random.default_rng(2).integers(-500, 500, 5000)
    a = np.ones((500, 2))
    a.attach_grad()
    with mx.autograd.record():
        a[np.array(places, dtype="int64")].sum().backward()
    want = onp.bincount(places % 500, minlength=500)
    same(a.grad, onp.stack([want, want], axis=1).astype("float32"))
