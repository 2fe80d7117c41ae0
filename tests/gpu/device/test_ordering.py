"""Sorting on gpu(0): short lines in shared memory, long ones, and those left to CuPy."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.gpu.indexing import ordering
from tests.gpu.device.test_launches import counts
from tests.gpu.standin.seam import is_chosen

GPU = mx.gpu(0)


def drawn(*shape, dtype="float32"):
    """Return values with ties, infinities and NaN."""
    values = np.random.default_rng(0).integers(-50, 50, shape).astype(dtype)
    if dtype.startswith("float"):
        flat = values.reshape(-1)
        flat[1], flat[3], flat[5], flat[7] = np.inf, -np.inf, np.nan, -0.0
    return values


@pytest.mark.parametrize("extent", [1, 9, 2048, 2049, 3000])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int64"])
def test_order_is_stable(extent, dtype):
    values = drawn(3, max(extent, 8), dtype=dtype)[:, :extent]
    x = mx.nd.array(values, ctx=GPU, dtype=dtype)
    places = mx.nd.argsort(x, dtype="int64").asnumpy()
    np.testing.assert_array_equal(places, np.argsort(values, axis=1, kind="stable"))
    np.testing.assert_array_equal(mx.nd.sort(x).asnumpy(), np.sort(values, axis=1))
    host = mx.nd.array(values, dtype=dtype)
    for ascending in (False, True):
        how = {"k": min(extent, 7), "ret_typ": "both", "is_ascend": ascending, "dtype": "int64"}
        for result, expected in zip(mx.nd.topk(x, **how), mx.nd.topk(host, **how), strict=True):
            np.testing.assert_array_equal(result.asnumpy(), expected.asnumpy())


@pytest.mark.skipif(not is_chosen(), reason="the stand-in counts launches")
def test_one_launch():
    x = mx.nd.array(drawn(2, 40), ctx=GPU)
    mx.nd.sort(x).wait_to_read()
    before = counts().launches
    mx.nd.sort(x).wait_to_read()
    assert counts().launches == before + 1


def test_long_lines(monkeypatch):
    """Lines for CuPy's sort, or for the host's if CuPy cannot."""
    monkeypatch.setattr(ordering, "_LONGEST", 16)
    values = drawn(1, 17)
    result = mx.nd.argsort(mx.nd.array(values, ctx=GPU), dtype="int32").asnumpy()
    np.testing.assert_array_equal(result, np.argsort(values, axis=1, kind="stable"))


@pytest.mark.parametrize("side", ["left", "right"])
def test_searches(side):
    sequence = np.sort(drawn(300)[10:])
    wanted = drawn(50)
    arrays = [mx.np.array(values, ctx=GPU) for values in (sequence, wanted)]
    found = mx.np.searchsorted(*arrays, side=side).asnumpy()
    np.testing.assert_array_equal(found, np.searchsorted(sequence, wanted, side))
