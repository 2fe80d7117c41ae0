"""Factorisations of `mx.np.linalg`, by LAPACK through NumPy."""

import numpy as np

from mxcy._base.dtypes import complex_of, name_of, real_of
from mxcy._base.errors import MXNetError
from mxcy.ops.core.attrs import Bool, Enum
from mxcy.ops.core.complex_slopes import VALUES
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.record import op, sample
from mxcy.ops.matrix.linalg import matrices, square, transposed, triangle

__all__ = ["Eig", "multiply", "check_finite", "drawn", "eigen_type", "call_lapack", "symmetric"]

#: iterative functions, which may not terminate on non-finite input
_ITERATING = frozenset(("eig", "eigh", "eigvalsh", "lstsq", "pinv", "svd"))


def drawn(*shape):
    """Return a sampler of well-conditioned matrices with distinct singular values."""

    def draw(rng):
        rows, columns = shape[-2:]
        matrix = rng.normal(size=shape) * 0.2
        return matrix + np.eye(rows, columns) * np.arange(1, columns + 1)

    return draw


def symmetric(rng):
    """Return two symmetric matrices."""
    root = drawn(2, 3, 3)(rng)
    return root + root.swapaxes(-1, -2)


def check_finite(matrix):
    """Raise for a matrix with infinities or NaN."""
    require(np.isfinite(matrix).all(), "argument a: expected finite elements, got inf or nan")


def call_lapack(xp, function, *arrays, **keywords):
    """Call LAPACK; raise MXNetError if it fails."""
    if function in _ITERATING:
        check_finite(arrays[0])
    try:
        return getattr(xp.linalg, function)(*arrays, **keywords)
    except xp.linalg.LinAlgError as error:
        raise MXNetError(f"argument a: {error}") from None


def multiply(F, *arrays):
    """Multiply several matrices."""
    product = arrays[0]
    for array in arrays[1:]:
        product = F._npi_matmul(product, array)
    return product


def _half_diagonal(F, matrix):
    diagonal = F._linalg_makediag(F._linalg_extractdiag(matrix))
    return triangle(F, matrix) - diagonal * 0.5


def _gaps(F, values):
    """Return the reciprocal differences of all pairs of values, 0 for equal ones."""
    gaps = F.broadcast_sub(F.expand_dims(values, axis=-2), F.expand_dims(values, axis=-1))
    equal = gaps == 0
    return (1 - equal) / (gaps + equal)


def _inverses(values):
    """Return 1 / x, 0 for 0."""
    zero = values == 0
    return (1 - zero) / (values + zero)


@op("_npi_qr", inputs="A", outputs="Q R", amp="fp32")
class Qr:
    """Compute the QR factorisation ``A = Q R``: orthonormal columns in Q, upper triangular R.

    Shapes: A (..., m, n), Q (..., m, k), R (..., k, n) with k = min(m, n), or k = m with
    `complete`.
    """

    complete: Bool = False

    complexes = VALUES
    samples = (
        sample(drawn(3, 3), tol=20),
        sample(drawn(2, 4, 3), tol=20),
        sample(drawn(2, 3, 5), tol=20),
        sample(drawn(4, 3), complete=True, grad=False, tol=20),
        sample((0, 3), grad=False),
    )

    def infer(a, A):
        shape = matrices(A)
        if shape is None or -1 in shape[-2:]:
            return Spec(None, A.dtype), Spec(None, A.dtype)
        *batch, m, n = shape
        k = m if a.complete else min(m, n)
        return Spec((*batch, m, k), A.dtype), Spec((*batch, k, n), A.dtype)

    def grad(a, F, g, A, Q, R, specs):
        *_, m, n = shape = specs[0].shape
        if a.complete and m > n:
            raise MXNetError("Error in operator _npi_qr: complete factors have no gradient")
        if 0 in shape:
            return F._npi_zeros(shape=shape, dtype=name_of(specs[0].dtype))
        by_q, by_r = g
        ndim = len(shape)
        if m < n:
            first = {"axis": -1, "begin": 0, "end": m}
            last = {"axis": -1, "begin": m, "end": n}
            beyond = F.slice_axis(by_r, **last)
            right = F.slice_axis(A, **last)
            by_q = by_q + multiply(F, right, transposed(F, beyond, ndim))
            by_r, R = F.slice_axis(by_r, **first), F.slice_axis(R, **first)
        inner = multiply(F, R, transposed(F, by_r, ndim)) - multiply(
            F, transposed(F, by_q, ndim), Q
        )
        half = _half_diagonal(F, inner)
        along = by_q + multiply(F, Q, half + transposed(F, half, ndim))
        gradient = F._linalg_trsm(R, along, rightside=True, transpose=True, lower=False)
        return F.Concat(gradient, multiply(F, Q, beyond), dim=-1, num_args=2) if m < n else gradient

    def ref(a, xp, A):
        return tuple(xp.linalg.qr(A, "complete" if a.complete else "reduced"))


@op("_npi_svd", inputs="A", outputs="UT L V", names={"u": ("out", 0)}, amp="fp32")
class Svd:
    """Compute the singular value decomposition ``A = UT diag(L) V``, with L descending.

    Shapes: A (..., m, n), UT (..., m, k), L (..., k), V (..., k, n) with k = min(m, n); with
    `full_matrices` UT and V are square. Gradients omit the infinite terms of equal singular values.
    """

    full_matrices: Bool = False

    complexes = VALUES
    samples = (
        sample(drawn(3, 3), tol=20),
        sample(drawn(2, 2, 4), tol=20),
        sample(drawn(2, 4, 3), tol=20),
        sample(drawn(2, 3), full_matrices=True, grad=False, tol=20),
        sample((0, 3), grad=False),
    )

    def infer(a, A):
        shape = matrices(A)
        if shape is None or -1 in shape[-2:]:
            return Spec(None, A.dtype), Spec(None, real_of(A.dtype)), Spec(None, A.dtype)
        *batch, m, n = shape
        k = min(m, n)
        left, right = (m, n) if a.full_matrices else (k, k)
        return (
            Spec((*batch, m, left), A.dtype),
            Spec((*batch, k), real_of(A.dtype)),
            Spec((*batch, right, n), A.dtype),
        )

    def grad(a, F, g, u, L, V, specs):
        *_, m, n = shape = specs[0].shape
        ndim, k = len(shape), min(m, n)
        by_u, by_l, by_v = g
        if a.full_matrices:
            by_u, u = (F.slice_axis(x, axis=-1, begin=0, end=k) for x in (by_u, u))
            by_v, V = (F.slice_axis(x, axis=-2, begin=0, end=k) for x in (by_v, V))
        left = multiply(F, transposed(F, u, ndim), by_u)
        right = multiply(F, V, transposed(F, by_v, ndim))
        gaps = _gaps(F, L * L)
        row, column = F.expand_dims(L, axis=-2), F.expand_dims(L, axis=-1)
        inner = F.broadcast_mul((left - transposed(F, left, ndim)) * gaps, row)
        inner = inner + F.broadcast_mul((right - transposed(F, right, ndim)) * gaps, column)
        product = multiply(F, u, inner + F._linalg_makediag(by_l), V)
        over_row, over_column = _inverses(row), _inverses(column)
        if m > k:
            outside = by_u - multiply(F, u, left)
            product = product + multiply(F, F.broadcast_mul(outside, over_row), V)
        if n > k:
            outside = by_v - multiply(F, transposed(F, right, ndim), V)
            product = product + multiply(F, u, F.broadcast_mul(outside, over_column))
        return product

    def ref(a, xp, A):
        return tuple(call_lapack(xp, "svd", A, full_matrices=a.full_matrices))


@op("_npi_eigh", inputs="A", outputs="w v", amp="fp32")
class Eigh:
    """Compute eigenvalues (ascending) and eigenvectors of symmetric or Hermitian matrices.

    Eigenvectors are columns. Only triangle `UPLO` is read; the gradient is symmetric and omits the
    infinite terms of equal eigenvalues.
    """

    UPLO: Enum("L", "U") = "L"

    complexes = VALUES
    samples = (
        sample(symmetric, grad=False, tol=20),
        sample(symmetric, UPLO="U", grad=False, tol=20),
        sample((0, 0), grad=False),
    )

    def infer(a, A):
        shape = square(A)
        values = Spec(None if shape is None else shape[:-1], real_of(A.dtype))
        return values, Spec(shape, A.dtype)

    def grad(a, F, g, w, v, specs):
        ndim = len(specs[0].shape)
        by_w, by_v = g
        gradient = transposed(F, v, ndim)
        inner = multiply(F, gradient, by_v) * _gaps(F, w) + F._linalg_makediag(by_w)
        product = multiply(F, v, inner, gradient)
        return (product + transposed(F, product, ndim)) * 0.5

    def ref(a, xp, A):
        return tuple(call_lapack(xp, "eigh", A, UPLO=a.UPLO))


def eigen_type(a, A):
    """Return the dtype of eigenvalues, complex under NumPy's policy."""
    return complex_of(A.dtype) if a.numpy_types and A.dtype is not None else A.dtype


@op("_npi_eig", inputs="A", outputs="w v", uses_types=True, amp="fp32")
class Eig:
    """Compute eigenvalues and right eigenvectors (columns) of square matrices.

    They are complex for complex matrices and under NumPy's dtype policy. Under MXNet's policy they
    are real for real matrices, and complex eigenvalues are an error.
    """

    complexes = VALUES
    samples = (sample(symmetric, grad=False, tol=50), sample((0, 0), grad=False))

    def infer(a, A):
        shape = square(A)
        code = eigen_type(a, A)
        return Spec(None if shape is None else shape[:-1], code), Spec(shape, code)

    def grad(a, F, g):
        return None

    def ref(a, xp, A):
        values, vectors = call_lapack(xp, "eig", A)  # NumPy chooses real or complex
        if A.dtype.kind == "c" or a.numpy_types:
            kind = np.result_type(A.dtype, np.complex64)
            return values.astype(kind), vectors.astype(kind)
        if np.any(values.imag):
            raise MXNetError(
                "argument A: a matrix has complex eigenvalues; cast it to a complex dtype"
            )
        return values.real, vectors.real
