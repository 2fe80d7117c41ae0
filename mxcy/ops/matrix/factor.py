"""Factorisations, inverses and determinants of (batches of) matrices."""

import math

import numpy as np

from mxcy._base.dtypes import real_of
from mxcy._base.errors import MXNetError
from mxcy.ops.core.attrs import Bool
from mxcy.ops.core.complex_slopes import VALUES
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, back_data, require
from mxcy.ops.core.params import MATRICES, TRIANGULAR
from mxcy.ops.core.record import native, op, register, sample
from mxcy.ops.matrix.linalg import matrices, solve, square, transposed, triangle

__all__ = []


def _eye(xp, A):
    return xp.broadcast_to(xp.eye(A.shape[-1], dtype=A.dtype), A.shape)


def _symmetric(rng, batch=()):
    """Return well-conditioned symmetric positive definite matrices."""
    root = rng.normal(size=(*batch, 3, 3))
    return root @ root.swapaxes(-1, -2) + 2 * np.eye(3)


def _regular(rng):
    """Return well-conditioned nonsymmetric matrices."""
    return rng.normal(size=(2, 3, 3)) * 0.3 + 2 * np.eye(3)


def _exchanged(rng):
    """Return well-conditioned matrices of several blocks with permuted rows."""
    return (rng.normal(size=(2, 70, 70)) / 16 + np.eye(70))[:, rng.permutation(70)]


def _singular(rng):
    """Return an invertible and a singular matrix."""
    return _regular(rng) * np.array([1, 0])[:, None, None]


def _kernel(name):
    """Return a native kernel for triangular matrices."""

    def params(a, ins, outs):
        *batch, n, _ = ins[0].shape
        return {
            "batch": math.prod(batch),
            "n": n,
            "m": 0,
            "transpose": 0,
            "rightside": 0,
            "lower": a.lower,
            "alpha": 1,
        }

    return native(
        name, TRIANGULAR, params, work=lambda a, ins, outs: ins[0].size * ins[0].shape[-1] // 8
    )


def _factors(name):
    """Return a native kernel that factorises general matrices."""

    def params(a, ins, outs):
        *batch, rows, columns = ins[0].shape
        return {"batch": math.prod(batch), "rows": rows, "columns": columns}

    def work(a, ins, outs):
        return ins[0].size * ins[0].shape[-2] // 8

    return (native(name, MATRICES, params, work=work),)


def _infer_square(a, A):
    return Spec(square(A), A.dtype)


def _half_diagonal(F, matrix):
    """Return the lower triangle with its diagonal halved."""
    diagonal = F._linalg_makediag(F._linalg_extractdiag(matrix))
    return triangle(F, matrix) - diagonal * 0.5


@op("_linalg_potrf", aliases=("linalg_potrf", "_npi_cholesky"), inputs="A", amp="fp32")
class Potrf:
    """Compute the Cholesky factor L, lower triangular, of positive definite ``A = L L^T``.

    Only the lower triangle of A is read; the gradient is symmetric. With ``lower=False`` the
    upper triangle is read and the factors are upper: ``A = U^T U``.
    """

    lower: Bool = True

    complexes = VALUES
    samples = (
        sample(_symmetric, grad=False, tol=10),
        sample(lambda rng: _symmetric(rng, (2,)), grad=False, tol=10),
        sample(lambda rng: _symmetric(rng, (2,)), lower=False, grad=False, tol=10),
    )
    kernels = (_kernel("potrf"),)
    infer = _infer_square
    infer_back = back_data

    def grad(a, F, g, out, specs):
        if not a.lower:
            g, out = (transposed(F, matrix, specs[0].ndim) for matrix in (g, out))
        inner = _half_diagonal(F, F._linalg_gemm2(out, g, transpose_a=True))
        half = F._linalg_trsm(out, inner, transpose=True)
        half = F._linalg_trsm(out, half, rightside=True)
        return (half + transposed(F, half, specs[0].ndim)) * 0.5

    def ref(a, xp, A):
        try:
            factors = xp.linalg.cholesky(A if a.lower else A.swapaxes(-1, -2))
        except xp.linalg.LinAlgError:
            raise MXNetError("argument A: a matrix is not symmetric positive definite") from None
        return factors if a.lower else factors.swapaxes(-1, -2)


@op("_linalg_potri", aliases=("linalg_potri",), inputs="A", amp="fp32")
class Potri:
    """Compute the inverse of ``A A^T`` for lower triangular A, such as a Cholesky factor.

    Only the lower triangle of A is read; with ``lower=False`` only the upper one, and ``A^T A`` is
    inverted.
    """

    lower: Bool = True

    samples = (sample(_regular, tol=10), sample(_regular, lower=False, tol=10))
    kernels = (_kernel("potri"),)
    infer = _infer_square
    infer_back = back_data

    def grad(a, F, g, A, out, specs):
        both = g + transposed(F, g, specs[0].ndim)
        if a.lower:
            spread = F._linalg_gemm2(out, both)
            solved = F._linalg_trsm(A, spread, transpose=True, rightside=True)
        else:
            solved = F._linalg_trsm(A, F._linalg_gemm2(both, out), transpose=True, lower=False)
        return -triangle(F, solved, lower=a.lower)

    def ref(a, xp, A):
        lower = xp.tril(A) if a.lower else xp.triu(A).swapaxes(-1, -2)
        inverse = solve(xp, lower, _eye(xp, A))
        return inverse.swapaxes(-1, -2) @ inverse


def _inverse_gradient(a, F, g, out):
    left = F._linalg_gemm2(out, g, transpose_a=True)
    return F._linalg_gemm2(left, out, transpose_b=True, alpha=-1.0)


@op("_linalg_inverse", aliases=("linalg_inverse",), inputs="A", amp="fp32")
class Inverse:
    """Compute the inverse of square matrices; singular matrices raise an error."""

    complexes = True
    samples = (
        sample(_regular, tol=10),
        sample(_symmetric, tol=10),
        sample(_exchanged, grad=False, tol=50),
    )
    kernels = _factors("inverse")
    infer = _infer_square
    infer_back = back_data

    grad = _inverse_gradient

    def ref(a, xp, A):
        return solve(xp, A, _eye(xp, A))


@op("_linalg_inverse_or_zero", inputs="A")
class _InverseOrZero:
    """Compute the inverse of square matrices; singular matrices give zeros."""

    complexes = True
    samples = (
        sample(_regular, tol=10),
        sample(_exchanged, grad=False, tol=50),
        sample(_singular, grad=False, tol=10),
    )
    kernels = _factors("inverse_or_zero")
    infer = _infer_square
    infer_back = back_data

    grad = _inverse_gradient

    def ref(a, xp, A):
        singular = (xp.linalg.det(A) == 0)[..., None, None]
        return xp.where(singular, 0, xp.linalg.inv(xp.where(singular, _eye(xp, A), A)))


def _infer_det(A, single_shape, code=None):
    shape = square(A)
    return Spec(
        None if shape is None else shape[:-2] or single_shape, A.dtype if code is None else code
    )


def _spread(F, A, shape, per_matrix):
    """Multiply the transposed inverse of A, of that shape, by a scalar per matrix."""
    inverse = transposed(F, F._linalg_inverse_or_zero(A), len(shape))
    return F.broadcast_mul(F._backward_reshape(per_matrix, shape=(*shape[:-2], 1, 1)), inverse)


_DETERMINED = (
    sample(_regular, tol=10),
    sample(_symmetric, tol=10),
    sample(_exchanged, grad=False, tol=50),
    sample(_singular, grad=False, tol=10),
)


def _slogdet(xp, A, single_shape):
    sign, logabsdet = xp.linalg.slogdet(A)
    shape = sign.shape or single_shape
    return sign.reshape(shape), logabsdet.reshape(shape)


def _determinants(prefix, single_shape, doc, det, slogdet, aliases=()):
    """Register det and slogdet; a single matrix gives shape `single_shape`."""
    register(
        f"{prefix}_det",
        aliases=aliases[:1],
        inputs="A",
        in_symbols=det,
        complexes=True,
        amp="fp32",
        samples=_DETERMINED,
        kernels=_factors("det"),
        infer=lambda a, A: _infer_det(A, single_shape),
        grad=lambda a, F, g, A, out, specs: _spread(F, A, specs[0].shape, g * out),
        ref=lambda a, xp, A: xp.linalg.det(A).reshape(A.shape[:-2] or single_shape),
        doc=f"""Compute the determinants of square matrices; {doc}

    The gradient at singular matrices is zero.
    """,
    )
    register(
        f"{prefix}_slogdet",
        aliases=aliases[1:],
        inputs="A",
        outputs="sign logabsdet",
        in_symbols=slogdet,
        complexes=VALUES,
        amp="fp32",
        samples=_DETERMINED,
        kernels=_factors("slogdet"),
        infer=lambda a, A: (
            _infer_det(A, single_shape),
            _infer_det(A, single_shape, real_of(A.dtype)),
        ),
        grad=lambda a, F, g, A, specs: _spread(F, A, specs[0].shape, g[1]),
        ref=lambda a, xp, A: _slogdet(xp, A, single_shape),
        doc=f"""Compute the signs and log-magnitudes of determinants; {doc}

    The gradient at singular matrices is zero, and that of the sign always.
    """,
    )


_determinants(
    "_linalg",
    (1,),
    "a single matrix gives shape (1,).",
    InSymbols(listed=3, under_np_shape="_mx_det"),
    InSymbols(listed=4, under_np_shape="_mx_slogdet"),
    ("linalg_det", "linalg_slogdet"),
)
_determinants(
    "_mx",
    (),
    "a single matrix gives shape ().",
    InSymbols(listed=3, file_name="_linalg_det"),
    InSymbols(listed=4, file_name="_linalg_slogdet"),
)


@op("_linalg_gelqf", aliases=("linalg_gelqf",), inputs="A", outputs="Q L", amp="fp32")
class Gelqf:
    """Compute the LQ factorisation ``A = L Q``: orthonormal rows in Q, lower triangular L.

    Shapes: A (..., m, n) with m <= n, Q (..., m, n), L (..., m, m).
    """

    samples = (
        sample((2, 3), tol=10),
        sample((2, 3, 4), tol=10),
        sample((5, 5), grad=False, tol=20),
        sample((2, 70, 75), grad=False, tol=50),
        sample((1, 4, 70), grad=False, tol=20),
    )
    kernels = _factors("lq")

    def infer(a, A):
        shape = matrices(A)
        if shape is None:
            return Spec(None, A.dtype), Spec(None, A.dtype)
        accepted = -1 in shape[-2:] or shape[-2] <= shape[-1]
        require(accepted, f"A: expected no more rows than columns, got {shape}")
        return Spec(shape, A.dtype), Spec((*shape[:-1], shape[-2]), A.dtype)

    def grad(a, F, g, Q, L, specs):
        by_q, by_l = g
        inner = F._linalg_gemm2(L, by_l, transpose_a=True)
        inner = inner - F._linalg_gemm2(by_q, Q, transpose_b=True)
        half = _half_diagonal(F, inner)
        along = by_q + F._linalg_gemm2(half + transposed(F, half, specs[0].ndim), Q)
        return F._linalg_trsm(L, along, transpose=True)

    def ref(a, xp, A):
        q, r = xp.linalg.qr(A.swapaxes(-1, -2))
        return q.swapaxes(-1, -2), r.swapaxes(-1, -2)


@op("_linalg_syevd", inputs="A", outputs="U L", amp="fp32")
class Syevd:
    """Compute the eigendecomposition of symmetric matrices: ``A = U^T diag(L) U``.

    The rows of U are the eigenvectors, by ascending eigenvalue, normalised so that the component of
    largest magnitude is positive. Only the lower triangle of A is read. The gradient is symmetric
    and omits the infinite terms of equal eigenvalues.
    """

    samples = (
        sample(_symmetric, grad=False, tol=20),
        sample(lambda rng: _symmetric(rng, (2,)), grad=False, tol=20),
    )

    def infer(a, A):
        shape = square(A)
        return Spec(shape, A.dtype), Spec(None if shape is None else shape[:-1], A.dtype)

    def grad(a, F, g, U, L, specs):
        by_u, by_l = g
        gaps = F.broadcast_sub(F.expand_dims(L, axis=-1), F.expand_dims(L, axis=-2))
        equal = gaps == 0
        inner = F._linalg_gemm2(by_u, U, transpose_b=True) * (1 - equal) / (gaps + equal)
        inner = (inner + transposed(F, inner, specs[0].ndim)) * 0.5 + F._linalg_makediag(by_l)
        return F._linalg_gemm2(F._linalg_gemm2(U, inner, transpose_a=True), U)

    def ref(a, xp, A):
        eigenvalues, vectors = xp.linalg.eigh(A)
        rows = vectors.swapaxes(-1, -2)
        at = xp.abs(rows).argmax(-1)[..., None]
        return rows * xp.sign(xp.take_along_axis(rows, at, -1)), eigenvalues
