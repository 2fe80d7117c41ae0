"""Matrix products by cuBLAS: layouts, batches, dtypes and compute types."""

import ctypes
import itertools

import numpy as np
import pytest

import mxcy as mx
from mxcy.gpu.matrix import blas
from tests.gpu.device.test_launches import launches
from tests.gpu.standin.seam import is_chosen

GPU = mx.gpu(0)
TOLERANCE = {"float16": 2e-2, "float32": 2e-5, "float64": 1e-12}


def drawn(*shape, dtype="float32"):
    return np.random.default_rng(len(shape) + shape[0]).standard_normal(shape).astype(dtype)


def on_gpu(*arrays):
    return [mx.nd.array(values, ctx=GPU, dtype=values.dtype) for values in arrays]


def test_it_is_used():
    assert blas.is_open()
    a, b = on_gpu(drawn(5, 6), drawn(6, 7))
    mx.nd.dot(a, b).wait_to_read()
    if is_chosen():
        before = launches()
        mx.nd.dot(a, b).wait_to_read()
        assert launches() == before


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(("left", "right"), [(a, b) for a in (False, True) for b in (False, True)])
def test_transposed(left, right, dtype):
    a = drawn(*((6, 5) if left else (5, 6)), dtype=dtype)
    b = drawn(*((7, 6) if right else (6, 7)), dtype=dtype)
    wide = [(v.T if t else v).astype("float64") for v, t in ((a, left), (b, right))]
    result = mx.nd.dot(*on_gpu(a, b), transpose_a=left, transpose_b=right).asnumpy()
    assert result.dtype == dtype
    np.testing.assert_allclose(
        result, wide[0] @ wide[1], rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype]
    )


@pytest.mark.parametrize(("left", "right"), [(a, b) for a in (False, True) for b in (False, True)])
def test_batches(left, right):
    a = drawn(4, *((3, 2) if left else (2, 3)))
    b = drawn(4, *((5, 3) if right else (3, 5)))
    wide = [v.transpose(0, 2, 1) if t else v for v, t in ((a, left), (b, right))]
    result = mx.nd.batch_dot(*on_gpu(a, b), transpose_a=left, transpose_b=right).asnumpy()
    np.testing.assert_allclose(result, wide[0] @ wide[1], rtol=1e-5, atol=1e-5)


def test_bfloat16():
    a, b = drawn(5, 6), drawn(6, 7)
    arrays = [mx.nd.array(v, ctx=GPU, dtype="bfloat16") for v in (a, b)]
    rounded = [array.astype("float32").asnumpy() for array in arrays]
    result = mx.nd.dot(*arrays).astype("float32").asnumpy()
    np.testing.assert_allclose(result, rounded[0] @ rounded[1], rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("no_bias", [False, True])
def test_dense_layers(no_bias):
    x, w, b = drawn(5, 6), drawn(300, 6), drawn(300)
    arrays = on_gpu(x, w) if no_bias else on_gpu(x, w, b)
    result = mx.nd.FullyConnected(*arrays, num_hidden=300, no_bias=no_bias).asnumpy()
    expected = x @ w.T + (0 if no_bias else b)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


def test_accumulating_products():
    a, b, c = drawn(2, 5, 6), drawn(2, 6, 7), drawn(2, 5, 7)
    arrays = on_gpu(a, b, c)
    result = mx.nd.linalg_gemm(*arrays, alpha=0.5, beta=2).asnumpy()
    np.testing.assert_allclose(result, 0.5 * a @ b + 2 * c, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(arrays[2].asnumpy(), c)
    result = mx.nd.linalg_gemm2(*arrays[:2], alpha=-3).asnumpy()
    np.testing.assert_allclose(result, -3 * a @ b, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("order", ["eager", "random:1", "random:2"])
def test_streams_wait(order):
    """Streams wait for products of other streams, and products for other streams."""
    from concurrent.futures import ThreadPoolExecutor

    from tests.gpu.device.test_streams import run_in

    x = on_gpu(np.eye(8, dtype="float32"))[0]
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
        for pool in (one, other):
            pool.submit(lambda: (x + 0).wait_to_read()).result()
        run_in(order)
        y = x
        for _ in range(10):
            y = one.submit(lambda y=y: y * 2).result()
            y = other.submit(lambda y=y: mx.nd.dot(y, x)).result()
        np.testing.assert_array_equal(y.asnumpy(), 2**10 * np.eye(8))
    run_in("lazy")


_extent = itertools.count(20)


def way_to_add_up(dtype="float32"):
    """Return the compute type of the last product."""
    n = next(_extent)  # prepared calls keep their compute type
    a, b = on_gpu(drawn(2, n, dtype=dtype), drawn(n, 2, dtype=dtype))
    mx.nd.dot(a, b).wait_to_read()
    return ctypes.CDLL("libcublas.so.13").standin_last_compute()


@pytest.mark.skipif(not is_chosen(), reason="it asks the stand-in what it was given")
def test_variables(monkeypatch):
    assert [way_to_add_up(dtype) for dtype in TOLERANCE] == [68, 68, 70]
    monkeypatch.setenv("MXNET_FC_TRUE_FP16", "1")
    assert [way_to_add_up(dtype) for dtype in TOLERANCE] == [64, 68, 70]
    monkeypatch.setenv("MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION", "1")
    assert way_to_add_up() == 77  # TF32
    monkeypatch.setenv("MXNET_CUDA_ALLOW_TENSOR_CORE", "0")
    assert [way_to_add_up(dtype) for dtype in TOLERANCE] == [65, 69, 71]
