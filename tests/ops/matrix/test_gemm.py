"""Matrix products: the native kernels against NumPy in double precision."""

import numpy as np
import pytest

from mxcy.ops.core import params
from tests.ops.kernel_call import run_kernel

TOLERANCE = {"float32": 2e-6, "float64": 4e-15, "float16": 1e-3, "bfloat16": 8e-3}
# Corners of the blocking: single elements, tails of tiles and vectors, several blocks of k and n.
SIZES = [
    (1, 1, 1),
    (4, 4, 4),
    (1, 37, 19),
    (37, 1, 19),
    (3, 5, 7),
    (14, 32, 16),
    (15, 33, 17),
    (29, 70, 65),
    (64, 64, 64),
    (65, 16, 300),
    (7, 1100, 5),
    (200, 40, 513),
    (97, 10, 84),
]


def to_bits(array):
    """float32 values rounded to bfloat16, as bits."""
    bits = array.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_bits(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def store(array, dtype):
    return to_bits(array) if dtype == "bfloat16" else array.astype(dtype)


def value(array, dtype):
    return (from_bits(array) if dtype == "bfloat16" else array).astype(np.float64)


def check(actual, expected, dtype, k):
    scale = np.sqrt(k + 1)
    np.testing.assert_allclose(
        value(actual, dtype), expected, rtol=TOLERANCE[dtype] * 4, atol=TOLERANCE[dtype] * scale * 4
    )


def gemm(
    a, b, ta=False, tb=False, alpha=1.0, beta=0.0, c=None, dtype="float32", threads=1, into=None
):
    """One product, or one for each matrix of three-dimensional arrays."""
    batch = a.shape[0] if a.ndim == 3 else 1
    m, k = a.shape[-2:][::-1] if ta else a.shape[-2:]
    n = b.shape[-2] if tb else b.shape[-1]
    packed = params.GEMM.pack(
        batch=batch, m=m, n=n, k=k, transpose_a=ta, transpose_b=tb, alpha=alpha, beta=beta
    )
    out = np.full((*a.shape[:-2], m, n), 7, a.dtype) if into is None else into
    ins = [a, b] if c is None else [a, b, c]
    req = None if into is None else [3]
    return run_kernel("gemm", ins, [out], packed, req, threads, half=dtype)


def draw(seed, *shapes):
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1, 1, shape) for shape in shapes]


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("ta", (False, True))
@pytest.mark.parametrize("tb", (False, True))
def test_product(dtype, ta, tb):
    for m, n, k in SIZES:
        a, b = (
            store(x, dtype) for x in draw(0, (k, m) if ta else (m, k), (n, k) if tb else (k, n))
        )
        left, right = value(a, dtype), value(b, dtype)
        expected = (left.T if ta else left) @ (right.T if tb else right)
        check(gemm(a, b, ta, tb, dtype=dtype), expected, dtype, k)


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_scaled_sum(dtype):
    a, b, c = (store(x, dtype) for x in draw(1, (5, 40, 30), (5, 30, 20), (5, 40, 20)))
    expected = -0.5 * (value(a, dtype) @ value(b, dtype)) + 2 * value(c, dtype)
    check(gemm(a, b, alpha=-0.5, beta=2, c=c, dtype=dtype, threads=2), expected, dtype, 30)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("shape", ((1, 9, 40), (9, 1, 40), (20, 30, 40)))
def test_request_add(dtype, shape):
    m, n, k = shape
    a, b, c, old = (store(x, dtype) for x in draw(2, (m, k), (k, n), (m, n), (m, n)))
    product = value(a, dtype) @ value(b, dtype)
    actual = gemm(a, b, dtype=dtype, into=old.copy())
    check(actual, product + value(old, dtype), dtype, k)
    actual = gemm(a, b, beta=3, c=c, dtype=dtype, into=old.copy())
    check(actual, product + 3 * value(c, dtype) + value(old, dtype), dtype, k)


@pytest.mark.parametrize("dtype", ("float32", "float64"))
@pytest.mark.parametrize("rows", range(1, 10))
def test_few_rows_of_a_batch(dtype, rows):
    """Up to eight rows times a transposed matrix have a kernel of their own, from k = 256 on."""
    for columns, k in ((1, 256), (37, 700), (64, 255), (5, 9000)):
        a, b, old = (x.astype(dtype) for x in draw(6, (rows, k), (columns, k), (rows, columns)))
        expected = a.astype(np.float64) @ b.astype(np.float64).T
        check(gemm(a, b, tb=True, dtype=dtype, threads=2), expected, dtype, k)
        added = gemm(a, b, tb=True, alpha=-2, dtype=dtype, into=old.copy())
        check(added, -2 * expected + old, dtype, k)


def test_empty():
    assert gemm(np.ones((0, 3), np.float32), np.ones((3, 4), np.float32)).shape == (0, 4)
    assert gemm(np.ones((2, 3), np.float16), np.ones((3, 0), np.float16), dtype="float16").size == 0
    assert (gemm(np.ones((2, 0)), np.ones((0, 4)), dtype="float64") == 0).all()


@pytest.mark.parametrize("dtype", ("float32", "float64", "float16"))
@pytest.mark.parametrize("shape", ((300, 20, 700), (20, 300, 700), (1, 500, 70), (64, 64, 64)))
def test_threads_do_not_change_bits(dtype, shape):
    m, n, k = shape
    a, b = (x.astype(dtype) for x in draw(3, (m, k), (k, n)))
    np.testing.assert_array_equal(gemm(a, b), gemm(a, b, threads=2))
    np.testing.assert_array_equal(
        gemm(a, b.T.copy(), tb=True), gemm(a, b.T.copy(), tb=True, threads=2)
    )


def test_nan_and_infinity_travel():
    a, b = (x.astype(np.float32) for x in draw(4, (20, 30), (30, 40)))
    a[3, 4], b[5, 6] = np.nan, np.inf
    actual = gemm(a, b)
    assert np.isnan(actual[3]).all() and np.isfinite(actual[4, 7:]).all()
    assert np.isinf(actual[4, 6])
    # The old content of an output that is not read must not leak into the result.
    dirty = np.full((20, 40), np.nan, np.float32)
    assert np.isfinite(gemm(a[4:5].copy(), b[:, 7:].copy(), into=None)).all()
    packed = params.GEMM.pack(
        batch=1, m=20, n=40, k=30, transpose_a=0, transpose_b=0, alpha=1, beta=0
    )
    run_kernel(
        "gemm", [np.ones((20, 30), np.float32), np.ones((30, 40), np.float32)], [dirty], packed
    )
    assert (dirty == 30).all()


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("rows", (1, 4, 64))
def test_fully_connected(dtype, rows):
    x, w, b = (store(v, dtype) for v in draw(5, (rows, 33), (10, 33), (10,)))
    packed = params.FULLY_CONNECTED.pack(rows=rows, hidden=10, depth=33)
    product = value(x, dtype) @ value(w, dtype).T
    out = np.zeros((rows, 10), x.dtype)
    check(run_kernel("fully_connected", [x, w], [out], packed, half=dtype), product, dtype, 33)
    out = np.zeros((rows, 10), x.dtype)
    actual = run_kernel("fully_connected", [x, w, b], [out], packed, half=dtype)
    check(actual, product + value(b, dtype), dtype, 33)
    actual = run_kernel("fully_connected", [x, w, b], [out], packed, [3], half=dtype)
    check(actual, 2 * (product + value(b, dtype)), dtype, 33)
