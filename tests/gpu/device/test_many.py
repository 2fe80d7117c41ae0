"""Reductions over lists of arrays on gpu(0) against NumPy."""

import numpy as np
import pytest

import mxcy as mx
from tests.gpu.device.test_launches import launches

GPU = mx.gpu(0)


def drawn(dtype, count=30):
    rng = np.random.default_rng(0)
    return [rng.standard_normal((1 + 97 * i) % 900 + 1).astype(dtype) for i in range(count)]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_sums_of_squares(dtype):
    values = drawn(dtype)
    arrays = [mx.nd.array(v, ctx=GPU, dtype=dtype) for v in values]
    mx.nd.waitall()
    before = launches()
    result = mx.nd.multi_sum_sq(*arrays, num_arrays=len(arrays)).asnumpy()
    assert launches() - before == 2
    expected = [(v.astype("float64") ** 2).sum() for v in values]
    np.testing.assert_allclose(result, expected, rtol=1e-6)


@pytest.mark.parametrize("bad", [np.nan, np.inf, None])
def test_all_finite(bad):
    values = drawn("float16")
    if bad is not None:
        values[17][-1] = bad
    arrays = [mx.nd.array(v, ctx=GPU, dtype="float16") for v in values]
    result = mx.nd.multi_all_finite(*arrays, num_arrays=len(arrays))
    assert result.asscalar() == (bad is None)
    # Without init the output accumulates.
    good = [mx.nd.ones((3,), ctx=GPU)]
    mx.nd.multi_all_finite(*good, num_arrays=1, init_output=False, out=result)
    assert result.asscalar() == (bad is None)
