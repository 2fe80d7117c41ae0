"""Linear algebra: errors, and identities on random matrices."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.base import MXNetError

LA = mx.nd.linalg
EYE, WIDE = mx.nd.array(np.eye(3)), mx.nd.ones((3, 4))


@pytest.mark.parametrize(
    ("call", "message"),
    (
        (lambda: LA.gemm2(WIDE, WIDE), r"_linalg_gemm2: A \(3, 4\) and B \(3, 4\).*4 and 3 differ"),
        (lambda: LA.gemm2(EYE, WIDE[None]), r"_linalg_gemm2: B: expected 2 dimensions"),
        (
            lambda: LA.gemm2(EYE[None], mx.nd.ones((2, 3, 3))),
            r"_linalg_gemm2: A .* the batches differ",
        ),
        (lambda: LA.gemm2(EYE, EYE, axis=1), r"_linalg_gemm2: axis"),
        (lambda: LA.gemm(EYE, WIDE, EYE), r"_linalg_gemm: argument C: expected shape \(3, 4\)"),
        (lambda: LA.syrk(EYE.astype("int32")), r"_linalg_syrk: A: only float32 and float64"),
        (lambda: LA.potrf(WIDE), r"_linalg_potrf: A: expected square matrices"),
        (lambda: LA.potrf(EYE[0]), r"_linalg_potrf: A: expected at least 2 dimensions"),
        (lambda: LA.potrf(-EYE), r"not symmetric positive definite"),
        (lambda: LA.inverse(mx.nd.ones((2, 2))), r"argument A"),
        (lambda: LA.trsm(EYE, mx.nd.ones((4, 2))), r"_linalg_trsm: argument A"),
        (lambda: LA.gelqf(mx.nd.ones((4, 3))), r"_linalg_gelqf: A.*no more rows than columns"),
        (lambda: LA.extractdiag(EYE, offset=3), r"_linalg_extractdiag: offset: 3"),
        (lambda: LA.maketrian(mx.nd.ones((5,))), r"_linalg_maketrian: A: 5 elements"),
    ),
)
def test_bad_input_is_named(call, message):
    with pytest.raises(MXNetError, match=message):
        call()
        mx.nd.waitall()


@pytest.fixture
def matrices():
    return np.random.RandomState(3).normal(size=(5, 4, 4))


def to_array(values):
    return mx.nd.array(values, dtype="float64")


def test_cholesky_factor_and_inverse(matrices):
    spd = matrices @ matrices.swapaxes(1, 2) + 0.1 * np.eye(4)
    factor = LA.potrf(to_array(spd))
    np.testing.assert_allclose(LA.syrk(factor).asnumpy(), spd, rtol=1e-10)
    np.testing.assert_allclose(LA.potri(factor).asnumpy() @ spd, [np.eye(4)] * 5, atol=1e-8)
    half_log_det = LA.sumlogdiag(factor).asnumpy()
    np.testing.assert_allclose(half_log_det * 2, LA.slogdet(to_array(spd))[1].asnumpy(), rtol=1e-9)


def test_lq_factors(matrices):
    q, lower = LA.gelqf(to_array(matrices[:, :3]))
    np.testing.assert_allclose(LA.gemm2(lower, q).asnumpy(), matrices[:, :3], atol=1e-12)
    np.testing.assert_allclose(LA.syrk(q).asnumpy(), [np.eye(3)] * 5, atol=1e-12)


def test_eigenvectors(matrices):
    symmetric = matrices + matrices.swapaxes(1, 2)
    rows, actual = LA.syevd(to_array(symmetric))
    scaled = mx.nd.broadcast_mul(actual.expand_dims(-1), rows)
    again = LA.gemm2(rows, scaled, transpose_a=True)
    np.testing.assert_allclose(again.asnumpy(), symmetric, atol=1e-12)
    assert (np.diff(actual.asnumpy()) >= 0).all()


def test_triangular_systems_undo_products(matrices):
    lower = to_array(matrices + 3 * np.eye(4))
    rhs = to_array(matrices[..., :2])
    for transpose in (False, True):
        product = LA.trmm(lower, rhs, transpose=transpose)
        back = LA.trsm(lower, product, transpose=transpose)
        np.testing.assert_allclose(back.asnumpy(), rhs.asnumpy(), rtol=1e-9, atol=1e-9)


def test_gradient_of_singular_determinants_is_zero():
    singular = to_array(np.ones((2, 2)))
    singular.attach_grad()
    with mx.autograd.record():
        out = LA.det(singular)
    out.backward()
    assert out.asscalar() == 0
    np.testing.assert_array_equal(singular.grad.asnumpy(), np.zeros((2, 2)))


def test_second_derivative_of_an_inverse():
    x = to_array([[2.0]])
    x.attach_grad()
    with mx.autograd.record():
        (slope,) = mx.autograd.grad([LA.inverse(x)], [x], create_graph=True, retain_graph=True)
    slope.backward()
    assert x.grad.asscalar() == pytest.approx(2 / 2.0**3)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("transpose", [True, False])
@pytest.mark.parametrize("rightside", [True, False])
@pytest.mark.parametrize("batch", [1, 3])
def test_large_triangular_systems(lower, transpose, rightside, batch):
    rng = np.random.default_rng(3)
    full = rng.normal(size=(batch, 75, 75)) / 75 + 2 * np.eye(75)
    matrix = np.tril(full) if lower else np.triu(full)
    matrix = matrix.swapaxes(1, 2) if transpose else matrix
    wanted = rng.normal(size=(batch, 41, 75) if rightside else (batch, 75, 41))
    right = wanted @ matrix if rightside else matrix @ wanted
    actual = LA.trsm(
        to_array(full),
        to_array(right),
        lower=lower,
        transpose=transpose,
        rightside=rightside,
        alpha=0.5,
    )
    np.testing.assert_allclose(actual.asnumpy(), wanted / 2, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("batch", [1, 3])
def test_large_cholesky_factors(batch):
    root = np.random.default_rng(3).normal(size=(batch, 75, 75))
    whole = root @ root.swapaxes(1, 2) + np.eye(75)
    factor = LA.potrf(to_array(np.tril(whole)))
    np.testing.assert_allclose(factor.asnumpy(), np.linalg.cholesky(whole), rtol=1e-9, atol=1e-12)
    inverse = LA.potri(factor + mx.nd.array(np.triu(np.ones((75, 75)), 1), dtype="float64"))
    np.testing.assert_allclose(inverse.asnumpy(), np.linalg.inv(whole), rtol=1e-7, atol=1e-9)


def test_singular_triangles_are_refused():
    singular = np.tri(40)
    singular[37, 37] = 0
    for call in (lambda a: LA.trsm(a, a), LA.potri):
        with pytest.raises(MXNetError, match="argument A: Singular"):
            call(to_array(singular)).asnumpy()
