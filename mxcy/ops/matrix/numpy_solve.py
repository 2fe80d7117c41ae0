"""Linear systems and pseudo-inverses of `mx.np.linalg`."""

import numpy as np

from mxcy._base.dtypes import CODES, real_of
from mxcy.ops.core.attrs import Bool, Double
from mxcy.ops.core.complex_slopes import VALUES
from mxcy.ops.core.infer import Spec, broadcast_shapes, require, same_dtype
from mxcy.ops.core.record import op, sample, values
from mxcy.ops.matrix.linalg import matrices, square, transposed
from mxcy.ops.matrix.numpy_factor import call_lapack, drawn, multiply

__all__ = []


def _summed(F, array, shape, target):
    """Sum a gradient to the shape before broadcasting."""
    lead = len(shape) - len(target)
    axes = (
        *range(lead),
        *(i + lead for i, n in enumerate(target) if n == 1 and shape[i + lead] != 1),
    )
    return F._backward_reshape(F._npi_sum(array, axis=axes) if axes else array, shape=target)


@op("_npi_solve", inputs="A B", amp="fp32")
class Solve:
    """Solve linear systems ``A X = B`` for X; B is a single vector or matrices."""

    complexes = True
    samples = (
        sample(drawn(3, 3), (3,), tol=20),
        sample(drawn(2, 3, 3), (2, 3, 4), tol=20),
        sample(drawn(3, 3), (2, 3, 2), tol=20),
        sample(drawn(2, 3, 3), (3,), tol=20),
        sample((0, 0), (0, 2), grad=False),
    )

    def infer(a, A, B):
        dtype = same_dtype((A, B), ("A", "B"))
        shape = square(A)
        if shape is None or B.shape is None:
            return Spec(None, dtype)
        require(B.shape, "B: expected at least one dimension")
        right = (*B.shape, 1) if B.ndim == 1 else B.shape
        require(
            right[-2] == shape[-1] or -1 in (right[-2], shape[-1]),
            f"A {shape} and B {B.shape}: the numbers of rows differ",
        )
        full_shape = (*broadcast_shapes(shape[:-2], right[:-2]), *right[-2:])
        return Spec(full_shape[:-1] if B.ndim == 1 else full_shape, dtype)

    def grad(a, F, g, A, B, out, specs):
        shape, right = specs[0].shape, specs[1].shape
        if len(right) == 1:
            right = (*right, 1)
        full_shape = (*broadcast_shapes(shape[:-2], right[:-2]), *right[-2:])
        g, out = (
            F._backward_reshape(g, shape=full_shape),
            F._backward_reshape(out, shape=full_shape),
        )
        by_b = F._npi_solve(transposed(F, A, len(shape)), g)
        by_a = -F._npi_matmul(by_b, transposed(F, out, len(full_shape)))
        square_shape = (*full_shape[:-2], *shape[-2:])
        by_b = _summed(F, by_b, full_shape, right)
        return (
            _summed(F, by_a, square_shape, shape),
            F._backward_reshape(by_b, shape=specs[1].shape),
        )

    def ref(a, xp, A, B):
        return call_lapack(xp, "solve", A, B)


def _by_pinv(F, g, A, p, ndim):
    """Return the gradient of A from that of its pseudo-inverse p."""
    p_transposed, g_transposed = (transposed(F, x, ndim) for x in (p, g))
    product = -multiply(F, p_transposed, g, p_transposed)
    outside = g_transposed - multiply(F, A, p, g_transposed)
    product = product + multiply(F, outside, p, p_transposed)
    outside = g_transposed - multiply(F, g_transposed, p, A)
    return product + multiply(F, p_transposed, p, outside)


def _pinv_ref(xp, A, rcond, hermitian):
    keywords = {"hermitian": True} if hermitian else {}  # CuPy's pinv lacks this parameter
    return call_lapack(xp, "pinv", A, rcond, **keywords)


@op("_npi_pinv_scalar_rcond", inputs="A", amp="fp32")
class Pinv:
    """Compute pseudo-inverses; singular values up to `rcond` times the largest count as 0."""

    rcond: Double = 1e-15
    hermitian: Bool = False

    complexes = VALUES
    samples = (
        sample(drawn(3, 3), tol=50),
        sample(drawn(2, 4, 3), tol=50),
        sample(drawn(2, 2, 3), tol=50),
        sample(lambda rng: np.ones((3, 2)), rcond=1e-5, grad=False, tol=50),
        sample((0, 3), grad=False),
    )

    def infer(a, A):
        shape = matrices(A)
        return Spec(None if shape is None else (*shape[:-2], shape[-1], shape[-2]), A.dtype)

    def grad(a, F, g, A, out, specs):
        return _by_pinv(F, g, A, out, len(specs[0].shape))

    def ref(a, xp, A):
        return _pinv_ref(xp, A, a.rcond, a.hermitian)


@op("_npi_pinv", inputs="A rcond", amp="fp32")
class PinvOfParts:
    """Compute pseudo-inverses of matrices with one relative threshold each, broadcast to them.

    Singular values up to the threshold times the largest count as 0.
    """

    hermitian: Bool = False

    complexes = VALUES
    samples = (
        sample(drawn(3, 3), values(1e-7, 1e-6, ()), grad=False, tol=50),
        sample(drawn(2, 4, 3), values(1e-7, 1e-6, (2,)), grad=False, tol=50),
        sample((0, 3), (), grad=False),
    )

    def infer(a, A, rcond):
        if A.dtype is not None:
            rcond.fill("rcond", dtype=real_of(A.dtype))
        shape = matrices(A)
        if shape is not None and rcond.shape is not None:
            fits = broadcast_shapes(shape[:-2], rcond.shape) == shape[:-2]
            require(fits, f"rcond: {rcond.shape} cannot be broadcast to {shape[:-2]}")
        return Spec(None if shape is None else (*shape[:-2], shape[-1], shape[-2]), A.dtype)

    def grad(a, F, g, A, out, specs):
        return _by_pinv(F, g, A, out, len(specs[0].shape)), None

    def ref(a, xp, A, rcond):
        return _pinv_ref(xp, A, rcond, a.hermitian)


@op("_npi_lstsq", inputs="A B", outputs="x residuals rank s", amp="fp32")
class Lstsq:
    """Compute the minimum-norm least-squares solution of ``A x = B``.

    Also returns the squared residuals of the columns, the rank of A and its singular values; those
    up to `rcond` times the largest count as 0.
    """

    rcond: Double = 1e-15

    complexes = VALUES
    samples = (
        sample(drawn(4, 3), (4, 2), tol=50),
        sample(drawn(3, 3), (3, 2), tol=50),
        sample(drawn(2, 3), (2, 2), tol=50),
    )

    def infer(a, A, B):
        dtype = same_dtype((A, B), ("A", "B"))
        shape, right = matrices(A), matrices(B, "B")
        if shape is None or right is None:
            unknown, real = Spec(None, dtype), Spec(None, real_of(dtype))
            return unknown, real, Spec((), CODES["int64"]), real
        require(len(shape) == len(right) == 2, f"A {shape} and B {right}: expected matrices")
        require(shape[0] == right[0], f"A {shape} and B {right}: the numbers of rows differ")
        return (
            Spec((shape[1], right[1]), dtype),
            Spec((right[1],), real_of(dtype)),
            Spec((), CODES["int64"]),
            Spec((min(shape),), real_of(dtype)),
        )

    def grad(a, F, g, A, B, x):
        by_x, by_residuals, _, by_s = g
        left, _, right = F._npi_svd(A)
        p = F._npi_pinv_scalar_rcond(A, rcond=a.rcond)
        p_transposed = transposed(F, p, 2)
        by_b = multiply(F, p_transposed, by_x)
        by_a = _by_pinv(F, multiply(F, by_x, transposed(F, B, 2)), A, p, 2)
        residuals = F.broadcast_mul(B - multiply(F, A, x), F.expand_dims(by_residuals, axis=0)) * 2
        by_a = by_a + multiply(F, F.broadcast_mul(left, F.expand_dims(by_s, axis=0)), right)
        return by_a - multiply(F, residuals, transposed(F, x, 2)), by_b + residuals

    def ref(a, xp, A, B):
        x, _, rank, s = call_lapack(xp, "lstsq", A, B, rcond=a.rcond)
        residuals = B - A @ x
        return x, (residuals * residuals.conj()).real.sum(0), xp.asarray(rank, "int64"), s
