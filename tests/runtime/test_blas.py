"""OpenBLAS for very large products where there is no oneDNN; everything works without it."""

import sys

import numpy as np
import pytest

from mxcy._library import blas
from mxcy.ops.core import params
from tests.ops.kernel_call import library, run_kernel

LARGE = 700  # its cube exceeds the limit of our own kernels


def products(n, dtype="float32"):
    rng = np.random.default_rng(0)
    a, b = (rng.uniform(-1, 1, (n, n)).astype(dtype) for _ in range(2))
    packed = params.GEMM.pack(batch=1, m=n, n=n, k=n, transpose_a=0, transpose_b=1, alpha=1, beta=0)
    for threads in (1, 2):
        out = run_kernel("gemm", [a, b], [np.empty_like(a)], packed, threads=threads)
        np.testing.assert_allclose(out, a.astype(float) @ b.T.astype(float), atol=1e-4)


def test_search(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert blas.find_library() is None
    path = tmp_path / "scipy_openblas32" / "lib" / "libscipy_openblas.so"
    path.parent.mkdir(parents=True)
    path.touch()
    assert blas.find_library() == str(path)


def test_refusals_name_the_file():
    assert library().mx_blas_open(b"/nowhere/libnone.so") == -1
    assert b"/nowhere/libnone.so" in library().mx_last_error()
    assert library().mx_blas_open(b"libm.so.6") == -1
    assert b"libm.so.6: not a CBLAS" in library().mx_last_error()


@pytest.mark.parametrize("offered", ("a bad file", "openblas"))
def test_large_products(run_python, offered):
    path = blas.find_library() if offered == "openblas" else "/nowhere/libnone.so"
    if path is None:
        pytest.skip("openblas is not installed")
    name = offered if offered == "openblas" else ""
    code = f"""
from tests.runtime.test_blas import LARGE, library, products
library().mx_blas_offer({path.encode()!r})
products(64)
assert library().mx_blas_name() == b""
products(LARGE)
assert library().mx_blas_name() == {name.encode()!r}, library().mx_blas_name()
products(LARGE, "float64")
"""
    run_python(code, MXNET_ONEDNN_ENABLED="0", MXCY_ONEDNN_LIBRARY=None)
