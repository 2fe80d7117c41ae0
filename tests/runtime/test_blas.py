"""Finding and using oneDNN or OpenBLAS; everything works without them."""

import sys

import numpy as np
import pytest

from mxcy import blas, env
from mxcy.ops import params
from tests.ops.kernel_call import library, run_kernel

LARGE = 700  # its cube is beyond what the own kernels keep to themselves


@pytest.fixture
def variables(monkeypatch):
    """A function that sets variables for a fresh environment table."""

    def use(**texts):
        table = env.Environment(texts)
        monkeypatch.setattr(blas.env, "get", table.get)
        monkeypatch.setattr(blas.env, "is_set", table.is_set)

    use()
    return use


@pytest.fixture
def own_kernels():
    """Leave the library without a provider afterwards."""
    yield library()
    library().mx_blas_open(None)


def install(folder, *names):
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def products(n, dtype="float32"):
    rng = np.random.default_rng(0)
    a, b = (rng.uniform(-1, 1, (n, n)).astype(dtype) for _ in range(2))
    packed = params.GEMM.pack(batch=1, m=n, n=n, k=n, transpose_a=0, transpose_b=1, alpha=1, beta=0)
    for threads in (1, 2):
        out = run_kernel("gemm", [a, b], [np.empty_like(a)], packed, threads=threads)
        np.testing.assert_allclose(out, a.astype(float) @ b.T.astype(float), atol=1e-4)


def test_search_order(variables, monkeypatch, tmp_path):
    prefix, packages = tmp_path / "prefix", tmp_path / "packages"
    monkeypatch.setattr(sys, "prefix", str(prefix))
    monkeypatch.setattr(blas.site, "USER_BASE", None)
    monkeypatch.setattr(sys, "path", [str(packages)])
    assert blas.find_library() is None
    openblas = packages / "scipy_openblas32" / "lib" / "libscipy_openblas.so"
    bundled = packages / "paddle" / "libs" / "libdnnl.so.3"
    own = prefix / "lib" / "libdnnl.so.3"
    for path in (openblas, bundled, own):
        install(path.parent, path.name)
        assert blas.find_library() == str(path)
    variables(MXNET_ONEDNN_ENABLED="0")
    assert blas.find_library() == str(openblas)
    variables(MXCY_ONEDNN_LIBRARY=str(bundled))
    assert blas.find_library() == str(bundled)


def test_named_file_must_exist(variables, tmp_path):
    variables(MXCY_ONEDNN_LIBRARY=str(tmp_path / "none.so"))
    with pytest.raises(env.EnvError, match="MXCY_ONEDNN_LIBRARY.*no such file"):
        blas.find_library()


def test_named_file_must_be_onednn(run_python, tmp_path):
    other = tmp_path / "other.so"
    other.write_text("not a library")
    text = run_python("import mxcy", fails=True, MXCY_ONEDNN_LIBRARY=str(other))
    assert "EnvError" in text and "MXCY_ONEDNN_LIBRARY" in text


def test_refusals_name_the_file(own_kernels):
    assert own_kernels.mx_blas_open(b"/nowhere/libnone.so") == -1
    assert b"/nowhere/libnone.so" in own_kernels.mx_last_error()
    assert own_kernels.mx_blas_open(b"libm.so.6") == -1
    assert b"neither oneDNN nor" in own_kernels.mx_last_error()


def test_bad_offer_is_ignored(own_kernels):
    own_kernels.mx_blas_offer(b"/nowhere/libnone.so")
    products(LARGE)
    assert own_kernels.mx_blas_name() == b""


@pytest.mark.parametrize("name", ("onednn", "openblas"))
def test_offer_is_opened_by_a_large_product(own_kernels, variables, name):
    variables(MXNET_ONEDNN_ENABLED="1" if name == "onednn" else "0")
    path = blas.find_library()
    if path is None or ("dnnl" in path) != (name == "onednn"):
        pytest.skip(f"{name} is not installed")
    own_kernels.mx_blas_offer(path.encode())
    products(64)
    assert own_kernels.mx_blas_name() == b""
    products(LARGE)
    assert own_kernels.mx_blas_name() == name.encode()
    products(LARGE, "float64")
