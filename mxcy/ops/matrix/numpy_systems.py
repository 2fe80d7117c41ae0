"""Eigenvalues, ranks and tensor inverses of `mx.np.linalg`."""

from math import prod

import numpy as np

from mxcy._base.dtypes import CODES, real_of
from mxcy.ops.core.attrs import Bool, Double, Enum, Float, Int, Shape
from mxcy.ops.core.complex_slopes import VALUES
from mxcy.ops.core.infer import Spec, broadcast_shapes, normal_axis, require, same_dtype
from mxcy.ops.core.record import op, sample, stop, values
from mxcy.ops.matrix.linalg import square, transposed
from mxcy.ops.matrix.numpy_factor import Eig, call_lapack, drawn, eigen_type, symmetric

__all__ = []

_LONG = CODES["int64"]


def _values_of(A, code):
    shape = square(A)
    return Spec(None if shape is None else shape[:-1], code)


@op("_npi_eigvalsh", inputs="A", amp="fp32")
class Eigvalsh:
    """Compute eigenvalues (ascending) of symmetric or Hermitian matrices from triangle `UPLO`."""

    UPLO: Enum("L", "U") = "L"

    complexes = VALUES
    samples = (
        sample(symmetric, grad=False, tol=20),
        sample(symmetric, UPLO="U", grad=False, tol=20),
        sample((0, 0), grad=False),
    )

    def infer(a, A):
        return _values_of(A, real_of(A.dtype))

    def grad(a, F, g, A, specs):
        _, vectors = F._npi_eigh(A, UPLO=a.UPLO)
        scaled = F.broadcast_mul(vectors, F.expand_dims(g, axis=-2))
        return F._npi_matmul(scaled, transposed(F, vectors, len(specs[0].shape)))

    def ref(a, xp, A):
        return call_lapack(xp, "eigvalsh", A, a.UPLO)


@op("_npi_eigvals", inputs="A", uses_types=True, amp="fp32")
class Eigvals:
    """Compute the eigenvalues of square matrices, with the dtypes of `_npi_eig`."""

    complexes = VALUES
    samples = (sample(symmetric, grad=False, tol=50), sample((0, 0), grad=False))
    grad = stop

    def infer(a, A):
        return _values_of(A, eigen_type(a, A))

    def ref(a, xp, A):
        return Eig.ref(a, xp, A)[0]


def _rank_infer(M):
    if M.shape is None:
        return Spec(None, _LONG)
    return Spec(M.shape[:-2] if M.ndim > 1 else (), _LONG)


def _sizes(xp, M, hermitian):
    """Singular values."""
    if hermitian:
        return xp.abs(call_lapack(xp, "eigvalsh", M))
    return call_lapack(xp, "svd", M, compute_uv=False)


@op("_npi_matrix_rank_none_tol", inputs="M", amp="fp32")
class MatrixRank:
    """Compute the rank of matrices: the number of singular values above rounding error.

    The two `finfoEps` are the machine epsilons of each dtype; 0 means the actual one.
    """

    finfoEps32: Float = 0.0  # noqa: N815  MXNet's name
    finfoEps64: Double = 0.0  # noqa: N815  MXNet's name
    hermitian: Bool = False

    complexes = True
    samples = (
        sample(drawn(3, 3), grad=False),
        sample(drawn(2, 2, 4), grad=False),
        sample(symmetric, hermitian=True, grad=False),
        sample((3,), grad=False),
        sample((0, 3), grad=False),
    )
    grad = stop

    def infer(a, M):
        return _rank_infer(M)

    def ref(a, xp, M):
        if M.ndim < 2:
            return xp.asarray(int(xp.any(M != 0)), "int64")
        result = _sizes(xp, M, a.hermitian)
        if not result.shape[-1]:
            return xp.zeros(M.shape[:-2], "int64")
        single = M.dtype in (np.float32, np.complex64)
        epsilon = a.finfoEps32 if single else a.finfoEps64
        rounding = epsilon or float(np.finfo(M.dtype).eps)
        limit = result.max(-1, keepdims=True) * (max(M.shape[-2:]) * rounding)
        return xp.asarray((result > limit).sum(-1), "int64")


@op("_npi_matrix_rank", inputs="M tol", amp="fp32")
class MatrixRankAbove:
    """Count the singular values of each matrix greater than `tol`, which is broadcast."""

    hermitian: Bool = False

    complexes = True
    samples = (
        sample(drawn(3, 3), values(0.1, 0.2, ()), grad=False),
        sample(drawn(2, 2, 4), values(0.1, 0.2, (2,)), grad=False),
        sample((3,), values(0.1, 0.2, ()), grad=False),
    )
    grad = stop

    def infer(a, M, tol):
        shape = _rank_infer(M)
        if shape.shape is None or tol.shape is None:
            return Spec(None, _LONG)
        return Spec(shape.shape if M.ndim < 2 else broadcast_shapes(shape.shape, tol.shape), _LONG)

    def ref(a, xp, M, tol):
        if M.ndim < 2:
            return xp.asarray(int(xp.any(M != 0)), "int64")
        result = _sizes(xp, M, a.hermitian)
        return xp.asarray((result > tol[..., None]).sum(-1), "int64")


@op("_npi_tensorinv", inputs="a", names={"x": ("in", 0)}, amp="fp32")
class TensorInverse:
    """Compute the inverse of an array as a linear map from its last axes to the first `ind`."""

    ind: Int = 2

    complexes = True
    samples = (
        sample(lambda rng: drawn(6, 6)(rng).reshape(2, 3, 6), tol=50),
        sample(lambda rng: drawn(4, 4)(rng).reshape(4, 2, 2), ind=1, tol=50),
    )

    def infer(a, x):
        require(a.ind > 0, f"ind: expected a positive number, got {a.ind}")
        if x.shape is None or -1 in x.shape:
            return Spec(None, x.dtype)
        rows, columns = x.shape[: a.ind], x.shape[a.ind :]
        require(prod(rows) == prod(columns), f"a: {x.shape} is not square from axis {a.ind} on")
        return Spec(columns + rows, x.dtype)

    def grad(a, F, g, out, specs):
        extent = prod(specs[0].shape[: a.ind])
        out, g = (F._backward_reshape(x, shape=(extent, extent)) for x in (out, g))
        gradient = transposed(F, out, 2)
        product = -F._npi_matmul(F._npi_matmul(gradient, g), gradient)
        return F._backward_reshape(product, shape=specs[0].shape)

    def ref(a, xp, x):
        return call_lapack(xp, "tensorinv", x, a.ind)


def _order(a, ndim):
    """Return the axes of the first operand with `a_axes` moved last."""
    last = [normal_axis(axis, ndim, "a_axes") for axis in a.a_axes or ()]
    require(len(set(last)) == len(last), f"a_axes {a.a_axes}: repeated axis")
    return [i for i in range(ndim) if i not in last] + last


def _solved(shape, ndim):
    """Return the solution's shape: NumPy's slice of last axes, also if b has more axes."""
    return shape[ndim - len(shape) :]


@op("_npi_tensorsolve", inputs="a b", names={"x": ("in", 0)}, amp="fp32")
class TensorSolve:
    """Solve ``tensordot(a, x, x.ndim) = b`` for x, with axes `a_axes` of a moved last."""

    a_axes: Shape = ()

    complexes = True
    samples = (
        sample(lambda rng: drawn(6, 6)(rng).reshape(2, 3, 6), (2, 3), tol=50),
        sample(
            lambda rng: drawn(6, 6)(rng).reshape(6, 2, 3), (2, 3), a_axes=(0,), grad=False, tol=50
        ),
    )

    def infer(a, x, b):
        dtype = same_dtype((x, b), ("a", "b"))
        if x.shape is None or b.shape is None or -1 in x.shape:
            return Spec(None, dtype)
        shape = tuple(x.shape[i] for i in _order(a, x.ndim))
        result = _solved(shape, b.ndim)
        require(prod(b.shape) == prod(result), f"a {x.shape} and b {b.shape}: system is not square")
        return Spec(result, dtype)

    def grad(a, F, g, x, out, specs):
        order, extent = _order(a, len(specs[0].shape)), prod(specs[1].shape)
        moved = tuple(specs[0].shape[i] for i in order)
        matrix = F._backward_reshape(F._npi_transpose(x, axes=order), shape=(extent, extent))
        g, out = (F._backward_reshape(y, shape=(extent, 1)) for y in (g, out))
        by_b = F._npi_solve(transposed(F, matrix, 2), g)
        by_a = -F._npi_matmul(by_b, transposed(F, out, 2))
        back = tuple(int(i) for i in np.argsort(order))
        by_a = F._npi_transpose(F._backward_reshape(by_a, shape=moved), axes=back)
        return by_a, F._backward_reshape(by_b, shape=specs[1].shape)

    def ref(a, xp, x, b):
        moved = xp.transpose(x, _order(a, x.ndim))
        result = call_lapack(xp, "solve", moved.reshape(b.size, -1), b.reshape(-1))
        return result.reshape(_solved(moved.shape, b.ndim))
