"""Sums, products and linear algebra of complex numbers."""

import numpy as onp
import pytest

import mxcy as mx

np = mx.np
RNG = onp.random.default_rng(7)
A = RNG.normal(size=(2, 4, 4)) + 1j * RNG.normal(size=(2, 4, 4))
B = RNG.normal(size=(2, 4, 3)) + 1j * RNG.normal(size=(2, 4, 3))
X = RNG.normal(size=(2, 4, 4)) + 4 * onp.eye(4)
TYPES = pytest.mark.parametrize("dtype", ["complex64", "complex128"])


def check(actual, expected, dtype=None, tol=1e-4):
    expected = onp.asarray(expected)
    assert actual.dtype == (expected.dtype if dtype is None else dtype)
    assert actual.shape == expected.shape
    onp.testing.assert_allclose(actual.asnumpy(), expected, rtol=tol, atol=tol)


@TYPES
@pytest.mark.parametrize("keywords", [{}, {"axis": 1}, {"axis": (0, 2), "keepdims": True}])
@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std", "any", "all"])
def test_reductions(name, keywords, dtype):
    values = A.astype(dtype)
    actual = getattr(np, name)(np.array(values, dtype=dtype), **keywords)
    check(actual, getattr(onp, name)(values, **keywords))


@TYPES
def test_reductions_with_parameters(dtype):
    values, mask = A.astype(dtype), A.real > 0
    array, where = np.array(values, dtype=dtype), np.array(A.real) > 0
    for name in ("sum", "prod", "mean", "var", "std"):
        expected = getattr(onp, name)(values, axis=(1, 2), where=mask)
        check(getattr(np, name)(array, axis=(1, 2), where=where), expected)
    check(np.sum(array, axis=0, initial=2), onp.sum(values, axis=0, initial=2))
    check(np.sum(array, dtype="complex128"), onp.sum(values, dtype="complex128"))
    check(np.sum(np.array(X), dtype=dtype), onp.sum(X.astype("f4"), dtype=dtype))
    check(np.var(array, ddof=1), onp.var(values, ddof=1))
    check(np.cumsum(array, axis=1), onp.cumsum(values, axis=1))
    check(np.cumprod(array), onp.cumprod(values), tol=1e-3)
    check(np.average(array, axis=0), onp.average(values, axis=0).astype(dtype))
    weights = onp.array([1.0, 3.0], "f4")
    expected = onp.average(values, axis=0, weights=weights).astype(dtype)
    check(np.average(array, axis=0, weights=np.array(weights)), expected)
    holes = values.copy()
    holes[0, 0] = onp.nan
    for name in ("nansum", "nanprod", "nanmean", "nanstd"):
        check(getattr(np, name)(np.array(holes, dtype=dtype)), getattr(onp, name)(holes), tol=1e-3)
    assert np.count_nonzero(array).item() == 32
    check(np.sum(np.zeros((0, 3), dtype=dtype), axis=0), onp.zeros(3, dtype))
    check(np.diff(array), onp.diff(values))
    for name in ("sum", "cumsum", "mean", "std"):
        with pytest.raises(mx.MXNetError, match="real"):
            getattr(np, name)(array, dtype="float32")


@TYPES
def test_products(dtype):
    a, b = A.astype(dtype), B.astype(dtype)
    one, other, real = np.array(a, dtype=dtype), np.array(b, dtype=dtype), np.array(X)
    check(one @ other, a @ b)
    check(real @ one, X.astype("f4") @ a)
    check(np.matmul(one, one[0, 0]), onp.matmul(a, a[0, 0]))
    check(np.dot(one[0], other[0]), onp.dot(a[0], b[0]))
    check(np.tensordot(one, other, ((1, 0), (1, 0))), onp.tensordot(a, b, ((1, 0), (1, 0))))
    check(np.vdot(one, one), onp.vdot(a, a))
    check(np.vdot(one[0, 0], real[0, 0]), onp.vdot(a[0, 0], X[0, 0].astype("f4")))
    check(np.inner(one[0], one[1]), onp.inner(a[0], a[1]))
    check(np.outer(one[0], other[0]), onp.outer(a[0], b[0]))
    check(np.vecdot(one, one), (a.conj() * a).sum(-1))
    check(np.linalg.vecdot(one, one, axis=1), (a.conj() * a).sum(1))
    for text in ("bij,bjk->bik", "bii->b", "bij,bkl->ik"):
        operands = ((a, b), (one, other)) if "," in text else ((a,), (one,))
        check(np.einsum(text, *operands[1]), onp.einsum(text, *operands[0]))
    check(np.kron(one[0], other[0]), onp.kron(a[0], b[0]))
    check(np.trace(one[0]), onp.trace(a[0]))
    check(np.polyval(one[0, 0], other[0, 0]), onp.polyval(a[0, 0], b[0, 0]))
    check(np.zeros((2, 0), dtype=dtype) @ np.zeros((0, 3), dtype=dtype), onp.zeros((2, 3), dtype))


@TYPES
def test_systems_and_norms(dtype):
    a, b = A.astype(dtype), B.astype(dtype)
    one, other = np.array(a, dtype=dtype), np.array(b, dtype=dtype)
    linalg, expected = np.linalg, onp.linalg
    check(linalg.solve(one, other), expected.solve(a, b))
    check(linalg.solve(np.array(X), other), expected.solve(X.astype("f4"), b), tol=1e-3)
    check(linalg.inv(one), expected.inv(a), tol=1e-3)
    check(linalg.pinv(other), expected.pinv(b), tol=1e-3)
    check(linalg.det(one), expected.det(a), tol=1e-3)
    for actual, wanted in zip(linalg.slogdet(one), expected.slogdet(a), strict=True):
        check(actual, wanted, tol=1e-3)
    for power in (0, 3, -2):
        check(linalg.matrix_power(one, power), expected.matrix_power(a, power), tol=1e-2)
    check(linalg.multi_dot([one[0], other[0], other[0].T]), a[0] @ b[0] @ b[0].T, tol=1e-3)
    check(linalg.matrix_rank(one), expected.matrix_rank(a))
    assert linalg.matrix_rank(other[0] @ other[0].T).item() == 3
    for order in (None, 1, 2, 3, 0, onp.inf, -onp.inf):
        check(linalg.norm(one[0, 0], order), onp.linalg.norm(a[0, 0], order))
        check(
            linalg.vector_norm(one, ord=2 if order is None else order, axis=1),
            onp.linalg.norm(a, order, axis=1),
        )
    for order in ("fro", "nuc", 1, -1, 2, -2, onp.inf, -onp.inf):
        check(linalg.matrix_norm(one, ord=order), onp.linalg.norm(a, order, axis=(-2, -1)))
    check(linalg.cond(one), expected.cond(a), tol=1e-2)
    x, residuals, rank, s = linalg.lstsq(other[0], one[0])
    wanted = expected.lstsq(b[0], a[0], rcond=None)
    check(x, wanted[0], tol=1e-3)
    check(residuals, wanted[1], tol=1e-3)
    check(s, wanted[3])
    assert rank.item() == 3
    check(linalg.matrix_transpose(one), a.swapaxes(1, 2))
    check(linalg.diagonal(one), onp.diagonal(a, axis1=1, axis2=2))


def adjoint(matrix):
    return matrix.conj().swapaxes(-1, -2)


@TYPES
def test_factors(dtype):
    a, b = A.astype(dtype), B.astype(dtype)
    hermitian = a @ adjoint(a) + onp.eye(4, dtype=dtype)
    one, other = np.array(a, dtype=dtype), np.array(b, dtype=dtype)
    positive = np.array(hermitian, dtype=dtype)
    lower, upper = np.linalg.cholesky(positive), np.linalg.cholesky(positive, upper=True)
    check(lower, onp.linalg.cholesky(hermitian))
    check(upper, adjoint(onp.linalg.cholesky(hermitian)))
    check(adjoint(upper) @ upper, hermitian, tol=1e-3)
    q, r = np.linalg.qr(other)
    check(q @ r, b)
    check(adjoint(q) @ q, onp.broadcast_to(onp.eye(3, dtype=dtype), (2, 3, 3)))
    u, s, vh = np.linalg.svd(other, full_matrices=False)
    check(s, onp.linalg.svd(b, compute_uv=False))
    check((u * s[:, None]) @ vh, b, tol=1e-3)
    check(np.linalg.svdvals(other), onp.linalg.svd(b, compute_uv=False))
    w, v = np.linalg.eigh(positive)
    check(w, onp.linalg.eigh(hermitian)[0], tol=1e-3)
    check(positive @ v, (v * w[:, None]).asnumpy(), tol=1e-2)
    check(np.linalg.eigvalsh(positive), onp.linalg.eigvalsh(hermitian), tol=1e-3)
    w, v = np.linalg.eig(one)
    assert w.dtype == v.dtype == dtype
    check(one @ v, (v * w[:, None]).asnumpy(), tol=1e-3)


def test_eigenvalues_of_real_matrices():
    turn = np.array([[0.0, -1], [1, 0]])
    with pytest.raises(mx.MXNetError, match="complex"):
        np.linalg.eigvals(turn).asnumpy()
    with pytest.raises(mx.MXNetError, match="complex"):
        np.linalg.eig(turn).eigenvectors.asnumpy()
    assert np.linalg.eigvals(np.array([[2.0, 1], [0, 3]])).dtype == "float32"
    actual = np.linalg.eigvals(turn.astype("complex64")).asnumpy()
    onp.testing.assert_allclose(sorted(actual, key=lambda z: z.imag), [-1j, 1j], atol=1e-6)
    with mx.util.np_default_dtype():
        for own, dtype in (
            ("float32", "complex64"),
            ("float64", "complex128"),
            ("int32", "complex128"),
        ):
            for matrix in ([[0, -1], [1, 0]], [[2, 1], [0, 3]]):
                array = np.array(matrix, dtype=own)
                w, v = np.linalg.eig(array)
                assert w.dtype == v.dtype == np.linalg.eigvals(array).dtype == dtype
                check(array @ v, (v * w).asnumpy())
    assert np.linalg.eig(np.zeros((0, 0))).eigenvalues.shape == (0,)


@TYPES
def test_statistics_of_rows(dtype):
    a = A[0].astype(dtype)
    one = np.array(a, dtype=dtype)
    check(np.cov(one), onp.cov(a).astype(dtype))
    check(np.corrcoef(one), onp.corrcoef(a).astype(dtype))
    for mode in ("valid", "same", "full"):
        check(np.correlate(one[0], one[1, :3], mode), onp.correlate(a[0], a[1, :3], mode))
        check(np.correlate(one[1, :3], one[0], mode), onp.correlate(a[1, :3], a[0], mode))
    check(np.cross(one[:, :3], one[:, 1:]), onp.cross(a[:, :3], a[:, 1:]))
    assert np.allclose(one, one + 1e-7) and not np.isclose(one, one + 1).any()
    check(np.unique(np.stack([one, one])), onp.unique(a))
