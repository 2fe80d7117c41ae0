"""Elementwise, broadcast and cast kernels: lengths, threads, in-place, all type pairs."""

import numpy as np
import pytest

from mxcy._base import dtypes
from mxcy.ops.core.params import BROADCAST, SCALAR
from mxcy.ops.elementwise.broadcast import collapse
from tests.ops.kernel_call import run_kernel

TYPES = ("float32", "float64", "float16", "int32", "int64", "int8", "uint8")
LENGTHS = (0, 1, 3, 7, 15, 16, 17, 31, 33, 63, 65, 100, 1023, 1025, 5000)


def draw(shape, dtype, low=1, high=6, seed=0):
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


@pytest.mark.parametrize("dtype", TYPES)
def test_runs_of_every_length(dtype):
    for n in LENGTHS:
        x, y = draw(n, dtype), draw(n, dtype, seed=1)
        for threads in (1, 2):
            got = run_kernel("sub", (x, y), [np.empty_like(x)], threads=threads)
            np.testing.assert_array_equal(got, x - y)
            two = SCALAR.pack(scalar=2)
            got = run_kernel("mul_scalar", (x,), [np.empty_like(x)], two, threads=threads)
            np.testing.assert_array_equal(got, x * np.array(2, dtype))
            got = run_kernel("rsub_scalar", (x,), [np.empty_like(x)], two, threads=threads)
            np.testing.assert_array_equal(got, np.array(2, dtype) - x)


@pytest.mark.parametrize("dtype", TYPES)
def test_output_may_be_an_input(dtype):
    for n in LENGTHS:
        x, y = draw(n, dtype), draw(n, dtype, seed=1)
        first, second = x.copy(), y.copy()
        run_kernel("sub", (first, y), [first])
        run_kernel("sub", (x, second), [second])
        np.testing.assert_array_equal(first, x - y)
        np.testing.assert_array_equal(second, x - y)


def spread(lhs, rhs):
    """Parameters of a broadcast kernel for two shapes."""
    out = np.broadcast_shapes(lhs, rhs)

    def strides(shape):
        spread_out = np.broadcast_to(np.empty(shape, "int8"), out)
        return [0 if n == 1 else s for n, s in zip(out, spread_out.strides, strict=True)]

    shape, left, right = collapse(out, strides(lhs), strides(rhs))
    return out, BROADCAST.pack(ndim=len(shape), shape=shape, lhs=left, rhs=right)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "shapes",
    (
        ((3, 4), (4,)),
        ((3, 4), (3, 1)),
        ((70, 80), (80,)),
        ((70, 1), (70, 80)),
        ((5, 1, 7), (1, 6, 1)),
        ((2, 3, 100), (2, 1, 1)),
        ((1,), (1000,)),
        ((), (3, 4)),
        ((600, 1), (1, 9)),
        ((2, 1, 3, 1, 80), (1, 4, 1, 5, 80)),
        ((40, 16), (16,)),
        ((9,), (700, 9)),
        ((2, 3, 300, 16), (2, 3, 1, 16)),
        ((5, 1, 64), (5, 50, 64)),
        ((4, 1, 5, 1, 3), (1, 6, 1, 7, 1)),
    ),
    ids=str,
)
def test_broadcasts(shapes, dtype):
    x, y = np.asarray(draw(shapes[0], dtype)), np.asarray(draw(shapes[1], dtype, seed=1))
    out, params = spread(*shapes)
    for threads in (1, 2):
        got = run_kernel("sub_broadcast", (x, y), [np.empty(out, dtype)], params, threads=threads)
        np.testing.assert_array_equal(got, x - y)


@pytest.mark.parametrize("dtype", ("int32", "int64", "int8"))
def test_integer_division_never_traps(dtype):
    low = np.iinfo(dtype).min
    x, y = np.array([low, 7, -7, 7, 100], dtype), np.array([-1, 2, 2, -2, 7], dtype)
    quotients = run_kernel("div", (x, y), [np.empty_like(x)])
    np.testing.assert_array_equal(quotients, np.array([low, 3, -3, -3, 14], dtype))
    np.testing.assert_array_equal(run_kernel("mod", (x, y), [np.empty_like(x)]), [0, 1, 1, -1, 2])
    zero = np.zeros_like(x)
    # Dividing by zero is what a conversion of infinity gives; the remainder is 0.
    endless = 0 if dtype == "int8" else low
    np.testing.assert_array_equal(run_kernel("div", (x, zero), [np.empty_like(x)]), [endless] * 5)
    np.testing.assert_array_equal(run_kernel("mod", (x, zero), [np.empty_like(x)]), zero)


def test_comparisons_may_give_bools():
    x, y = draw(100, "float32"), draw(100, "float32", seed=1)
    got = run_kernel("greater", (x, y), [np.empty(100, bool)])
    np.testing.assert_array_equal(got, x > y)


NAMES = [name for name in dtypes.REALS if name != "bfloat16"]


@pytest.mark.parametrize("source", NAMES)
def test_casts(source):
    for n in (1, 5, 17, 3000):
        x = draw(n, source, low=0, high=2 if source == "bool" else 120)
        for target in NAMES:
            got = run_kernel("cast", (x,), [np.empty(n, target)], threads=2)
            np.testing.assert_array_equal(got, x.astype(target), err_msg=target)


def test_halves_convert_exactly():
    every = np.arange(2**16, dtype="uint16").view("float16")
    wide = run_kernel("cast", (every,), [np.empty(every.shape, "float32")])
    np.testing.assert_array_equal(wide, every.astype("float32"))
    random = np.random.default_rng(4)
    x = random.standard_normal(50000) * 10.0 ** random.integers(-9, 6, 50000)
    x = np.concatenate([x, [65519, 65520, 2**-24, 2**-25, 1.5 * 2**-25, np.inf]]).astype("float32")
    with np.errstate(over="ignore"):
        want = x.astype("float16")
    got = run_kernel("cast", (x,), [np.empty(x.shape, "float16")])
    np.testing.assert_array_equal(got.view("uint16"), want.view("uint16"))
