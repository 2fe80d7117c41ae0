"""Reduction kernels: long sums are accurate, and the same whatever the number of threads."""

import math

import numpy as np
import pytest

from mxcy.ops.core.params import REDUCE
from mxcy.ops.reduce.reduce import reduce_params
from tests.ops.kernel_call import run_kernel

SHAPES = (
    ((100000,), (0,)),
    ((1001, 3), (0,)),
    ((1001, 3), (1,)),
    ((70000, 10), (0,)),
    ((3, 7000, 10), (1,)),
    ((10, 30000), (1,)),
    ((5, 6, 7), (0, 2)),
    ((4, 3, 20, 30), (0, 2, 3)),
    ((4, 3, 20, 30), (1, 3)),
    ((40, 32, 32), (0, 2)),
    ((200, 5000), (0,)),
    ((33, 1500), (0,)),
    ((257, 129), (0,)),
    ((6000, 4), (1,)),
    ((4, 5), ()),
    ((), ()),
)


def run(name, x, axes, threads=1):
    out = np.empty(tuple(n for i, n in enumerate(x.shape) if i not in axes), x.dtype)
    params = REDUCE.pack(**reduce_params(x.shape, axes))
    return run_kernel(name, (x,), [out], params, threads=threads)


@pytest.mark.parametrize("dtype", ("float32", "float64", "float16", "int32", "int64", "int8"))
@pytest.mark.parametrize(("shape", "axes"), SHAPES, ids=str)
def test_values_and_threads(shape, axes, dtype):
    x = np.asarray(np.random.default_rng(0).uniform(0, 3, shape))
    x = (x * 0.1 if dtype == "float16" else x).astype(dtype)
    wide = x.astype("float64" if x.dtype.kind == "f" else "int64")
    tolerance = {"float16": 1e-3, "float32": 1e-6, "float64": 1e-13}.get(dtype, 0)
    for name, want in (
        ("sum", wide.sum(axes)),
        ("max", wide.max(axes)),
        ("min", wide.min(axes)),
        ("sum_square", (wide * wide).sum(axes)),
    ):
        got = run(name, x, axes)
        np.testing.assert_array_equal(run(name, x, axes, threads=2), got, err_msg=name)
        with np.errstate(over="ignore"):
            want = np.asarray(want).astype(dtype)
        np.testing.assert_allclose(got, want, rtol=tolerance, err_msg=name)


def test_a_sum_of_many_terms_keeps_its_digits():
    x = np.full(1 << 20, 0.1, "float32")
    x[::2] = 1e4
    for shape, axes in ((x.shape, (0,)), ((1 << 19, 2), (0, 1)), ((1 << 14, 64), (0, 1))):
        got = run("sum", x.reshape(shape), axes)
        assert got == np.float32(math.fsum(x.astype("float64")))
    columns = run("sum", x.reshape(1 << 19, 2), (0,))
    np.testing.assert_allclose(columns, [1e4 * 2**19, 0.1 * 2**19], rtol=1e-6)


def test_norms_do_not_overflow():
    for scale in (1e30, 1e-30):
        x = np.full(1000, scale, "float32")
        np.testing.assert_allclose(run("norm2", x, (0,)), scale * math.sqrt(1000), rtol=1e-6)


@pytest.mark.parametrize("axis", (0, 1))
def test_nan_wins_in_extrema_and_is_left_out_of_nansum(axis):
    x = np.random.default_rng(1).standard_normal((70, 90)).astype("float32")
    x[3, 5] = x[66, 88] = np.nan
    for name, want in (
        ("max", x.max(axis)),
        ("min", x.min(axis)),
        ("nansum", np.nansum(x.astype("float64"), axis)),
    ):
        np.testing.assert_allclose(run(name, x, (axis,)), want, rtol=1e-5, atol=1e-5)
