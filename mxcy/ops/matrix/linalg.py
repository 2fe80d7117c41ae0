"""Products and triangular systems of (batches of) matrices in the last two axes."""

import math

from mxcy._base.dtypes import real_of
from mxcy._base.errors import MXNetError
from mxcy.ops.core.attrs import Bool, Double, Field, Int
from mxcy.ops.core.infer import InferError, Spec, normal_axis, require, same_dtype
from mxcy.ops.core.params import GEMM, TRIANGULAR
from mxcy.ops.core.record import by_onednn, native, op, register, sample, values

__all__ = ["matrices", "solve", "square", "transposed", "triangle"]


def matrices(spec, name="A"):
    """Check that a spec is one of float32 or float64 matrices; return its shape or None.

    Complex matrices are accepted by the records that support them.
    """
    if spec.dtype is not None:
        single_or_double = real_of(spec.dtype) in (0, 1)
        require(single_or_double, f"{name}: only float32 and float64 are supported, got {spec}")
    if spec.shape is not None:
        require(spec.ndim >= 2, f"{name}: expected at least 2 dimensions, got {spec.shape}")
    return spec.shape


def square(spec, name="A"):
    """Check that a spec is one of square matrices; see `matrices`."""
    shape = matrices(spec, name)
    if shape is not None and -1 not in shape[-2:]:
        require(shape[-1] == shape[-2], f"{name}: expected square matrices, got {shape}")
    return shape


def transposed(F, array, ndim):
    """Return an array of `ndim` dimensions with its last two axes swapped, by operators."""
    return F.SwapAxis(array, dim1=ndim - 2, dim2=ndim - 1)


def triangle(F, array, lower=True):
    """Return the lower or upper triangles of matrices, zero elsewhere, by operators."""
    return F._linalg_maketrian(F._linalg_extracttrian(array, lower=lower), lower=lower)


def solve(xp, matrix, rhs):
    """Solve linear systems.

    Raises
    ------
    MXNetError
        If a matrix is singular.
    """
    try:
        return xp.linalg.solve(matrix, rhs)
    except xp.linalg.LinAlgError as error:
        raise MXNetError(f"argument A: {error}") from None


# --- products ----------------------------------------------------------------------------------


def _extents(a, left, right, axis):
    """Return (rows, columns, inner) of the products; rows lie along `axis`."""
    rows, inner = (left[-1], left[axis]) if a.transpose_a else (left[axis], left[-1])
    columns, other = (right[axis], right[-1]) if a.transpose_b else (right[-1], right[axis])
    if inner != other and -1 not in (inner, other):
        raise InferError(f"A {left} and B {right}: the inner sizes {inner} and {other} differ")
    return rows, columns, inner


def _infer_gemm(a, A, B, C=None):
    names = ("A", "B", "C") if C is not None else ("A", "B")
    specs = (A, B, C)[: len(names)]
    dtype = same_dtype(specs, names)
    for spec, name in zip(specs, names, strict=True):
        matrices(spec, name)
    if A.shape is None or B.shape is None:
        return Spec(None, dtype)
    left, right = A.shape, B.shape
    require(len(left) == len(right), f"B: expected {len(left)} dimensions as in A, got {right}")
    axis = normal_axis(a.axis, A.ndim)
    require(axis < A.ndim - 1, f"axis: expected another than the last, got {a.axis}")
    for i in range(A.ndim - 1):
        fits = i == axis or left[i] == right[i] or -1 in (left[i], right[i])
        require(fits, f"A {left} and B {right}: the batches differ")
    rows, columns, _ = _extents(a, left, right, axis)
    out = (*left[:axis], rows, *left[axis + 1 : -1], columns)
    if C is not None:
        C.fill("C", out)
    return Spec(out, dtype)


def _ref_gemm2(a, xp, A, B):
    A, B = (xp.moveaxis(x, a.axis, -2) for x in (A, B))
    A = A.swapaxes(-1, -2) if a.transpose_a else A
    B = B.swapaxes(-1, -2) if a.transpose_b else B
    return a.alpha * xp.moveaxis(A @ B, -2, a.axis)


def _ref_gemm(a, xp, A, B, C):
    return _ref_gemm2(a, xp, A, B) + a.beta * C


def _grad_gemm(a, F, g, A, B, needs):
    def product(left, right, transpose_a, transpose_b):
        return F._linalg_gemm2(
            left,
            right,
            transpose_a=transpose_a,
            transpose_b=transpose_b,
            alpha=a.alpha,
            axis=a.axis,
        )

    by_a = by_b = None
    if needs[0] and a.transpose_a:
        by_a = product(B, g, a.transpose_b, True)
    elif needs[0]:
        by_a = product(g, B, False, not a.transpose_b)
    if needs[1] and a.transpose_b:
        by_b = product(g, A, True, a.transpose_a)
    elif needs[1]:
        by_b = product(A, g, not a.transpose_a, False)
    return by_a, by_b, *((g * a.beta,) if len(needs) > 2 else ())


def _gemm_params(a, ins, outs):
    left, right = ins[0].shape, ins[1].shape
    m, n, k = _extents(a, left, right, len(left) - 2)
    return {
        "batch": math.prod(left[:-2]),
        "m": m,
        "n": n,
        "k": k,
        "transpose_a": a.transpose_a,
        "transpose_b": a.transpose_b,
        "alpha": a.alpha,
        "beta": getattr(a, "beta", 0.0),
    }


def _gemm_refuses(a, ins, outs):
    if normal_axis(a.axis, ins[0].ndim) != ins[0].ndim - 2:
        return "the rows do not lie along the last axis but one"
    return None if ins[0].size and ins[1].size else "there are no elements"


def _gemm_work(a, ins, outs):
    return outs[0].size * _extents(a, ins[0].shape, ins[1].shape, ins[0].ndim - 2)[2] // 4


_GEMM_FIELDS = (
    Field("transpose_a", Bool, False),
    Field("transpose_b", Bool, False),
    Field("alpha", Double, 1.0),
)
_AXIS = Field("axis", Int, -2)


def _small_or_single(a, ins, outs):
    """Return why our own kernel is as fast as oneDNN's, as for `batch_dot`."""
    batch = math.prod(ins[0].shape[:-2])
    large = batch > 1 and 4 * _gemm_work(a, ins, outs) >= batch << 19
    return None if large else "small or single products"


_GEMM_KERNELS = (native("gemm", GEMM, _gemm_params, when=_gemm_refuses, work=_gemm_work),)

register(
    "_linalg_gemm",
    aliases=("linalg_gemm",),
    inputs="A B C",
    fields=(*_GEMM_FIELDS, Field("beta", Double, 1.0), _AXIS),
    infer=_infer_gemm,
    grad=_grad_gemm,
    ref=_ref_gemm,
    kernels=_GEMM_KERNELS,
    samples=(
        sample((3, 4), (4, 5), (3, 5), alpha=2.0, beta=0.5, tol=4),
        sample((2, 4, 3), (2, 5, 4), (2, 3, 5), transpose_a=True, transpose_b=True, tol=4),
        sample((2, 3, 4), (5, 3, 4), (2, 3, 5), axis=0, transpose_b=True, tol=4),
    ),
    doc="""Compute matrix products with addition: ``alpha * op(A) op(B) + beta * C``.

    Columns lie along the last axis, rows along `axis`, the last but one by default; all
    other axes agree. op transposes if `transpose_a` or `transpose_b` is set. """,
    amp="lp16/fp32",
)
register(
    "_linalg_gemm2",
    aliases=("linalg_gemm2",),
    inputs="A B",
    fields=(*_GEMM_FIELDS, _AXIS),
    infer=_infer_gemm,
    grad=_grad_gemm,
    ref=_ref_gemm2,
    kernels=(by_onednn(*_GEMM_KERNELS, _small_or_single), *_GEMM_KERNELS),
    complexes=True,
    samples=(
        sample((3, 4), (4, 5), alpha=2.0, tol=4),
        sample((2, 4, 3), (2, 5, 4), transpose_a=True, transpose_b=True, tol=4),
        sample((2, 3, 4, 5), (2, 5, 4, 6), axis=1, tol=4),
        sample((2, 128, 128), (2, 128, 128), dtypes=("float32",), grad=False, tol=16),
    ),
    doc="""Compute matrix products: ``alpha * op(A) op(B)``.

    Columns lie along the last axis, rows along `axis`, the last but one by default; all
    other axes agree. op transposes if `transpose_a` or `transpose_b` is set. """,
    amp="lp16/fp32",
)


@op("_linalg_syrk", aliases=("linalg_syrk",), inputs="A", amp="fp32")
class Syrk:
    """Multiply a matrix by its transpose: ``alpha * A A^T``, with `transpose` ``alpha * A^T A``."""

    transpose: Bool = False
    alpha: Double = 1.0

    samples = (sample((3, 4), alpha=2.0, tol=4), sample((2, 3, 4), transpose=True, tol=4))

    def infer(a, A):
        shape = matrices(A)
        if shape is not None:
            extent = shape[-1 if a.transpose else -2]
            shape = (*shape[:-2], extent, extent)
        return Spec(shape, A.dtype)

    def grad(a, F, g, A, specs):
        g = g + transposed(F, g, specs[0].ndim)
        if a.transpose:
            return F._linalg_gemm2(A, g, alpha=a.alpha)
        return F._linalg_gemm2(g, A, alpha=a.alpha)

    def ref(a, xp, A):
        other = A.swapaxes(-1, -2)
        return a.alpha * (other @ A if a.transpose else A @ other)


# --- triangular matrices ------------------------------------------------------------------------

_TRIANGULAR_FIELDS = (
    Field("transpose", Bool, False),
    Field("rightside", Bool, False),
    Field("lower", Bool, True),
    Field("alpha", Double, 1.0),
)


def _infer_triangular(a, A, B):
    dtype = same_dtype((A, B), ("A", "B"))
    shape = square(A)
    matrices(B, "B")
    if shape is not None and B.shape is not None:
        extent = B.shape[-1] if a.rightside else B.shape[-2]
        A.fill("A", (*B.shape[:-2], extent, extent))
    return Spec(B.shape, dtype)


def _operand(a, xp, A):
    """Return the selected triangle of A, transposed if requested."""
    A = xp.tril(A) if a.lower else xp.triu(A)
    return A.swapaxes(-1, -2) if a.transpose else A


def _ref_trmm(a, xp, A, B):
    A = _operand(a, xp, A)
    return a.alpha * (B @ A if a.rightside else A @ B)


def _ref_trsm(a, xp, A, B):
    A = _operand(a, xp, A)
    if a.rightside:
        return a.alpha * solve(xp, A.swapaxes(-1, -2), B.swapaxes(-1, -2)).swapaxes(-1, -2)
    return a.alpha * solve(xp, A, B)


def _trsm_params(a, ins, outs):
    *batch, rows, columns = ins[1].shape
    n, m = (columns, rows) if a.rightside else (rows, columns)
    return {
        "batch": math.prod(batch),
        "n": n,
        "m": m,
        "transpose": a.transpose,
        "rightside": a.rightside,
        "lower": a.lower,
        "alpha": a.alpha,
    }


def _outer(a, F, g, B):
    """Return the gradient of op(A) in a product with B, mapped to A's triangle."""
    if a.rightside:
        g, B = B, g
        by_a = (
            F._linalg_gemm2(B, g, transpose_a=True)
            if a.transpose
            else F._linalg_gemm2(g, B, transpose_a=True)
        )
    else:
        by_a = (
            F._linalg_gemm2(B, g, transpose_b=True)
            if a.transpose
            else F._linalg_gemm2(g, B, transpose_b=True)
        )
    return triangle(F, by_a, a.lower)


def _grad_trmm(a, F, g, A, B):
    by_b = F._linalg_trmm(
        A, g, transpose=not a.transpose, rightside=a.rightside, lower=a.lower, alpha=a.alpha
    )
    return _outer(a, F, g, B) * a.alpha, by_b


def _grad_trsm(a, F, g, A, out):
    by_b = F._linalg_trsm(A, g, transpose=not a.transpose, rightside=a.rightside, lower=a.lower)
    return -_outer(a, F, by_b, out), by_b * a.alpha


def _triangular_samples(low):
    shared = {"tol": 10}
    matrix = values(low, low + 1, (3, 3)) if low else (3, 3)
    batch = values(low, low + 1, (2, 3, 3)) if low else (2, 3, 3)
    return (
        sample(matrix, (3, 4), **shared),
        sample(matrix, (4, 3), rightside=True, alpha=2.0, **shared),
        sample(batch, (2, 3, 4), transpose=True, lower=False, alpha=0.5, **shared),
        sample(batch, (2, 4, 3), transpose=True, rightside=True, **shared),
    )


register(
    "_linalg_trmm",
    aliases=("linalg_trmm",),
    inputs="A B",
    fields=_TRIANGULAR_FIELDS,
    infer=_infer_triangular,
    grad=_grad_trmm,
    ref=_ref_trmm,
    samples=_triangular_samples(0),
    doc="""Multiply by triangular matrices: ``alpha * op(A) B``, or ``alpha * B op(A)``.

    A is on the left, or on the right with `rightside`. Only the lower triangle of A is read, or
    the upper one unless `lower`; op transposes if `transpose`. """,
    amp="fp32",
)
register(
    "_linalg_trsm",
    aliases=("linalg_trsm",),
    inputs="A B",
    fields=_TRIANGULAR_FIELDS,
    infer=_infer_triangular,
    grad=_grad_trsm,
    ref=_ref_trsm,
    kernels=(
        native(
            "trsm",
            TRIANGULAR,
            _trsm_params,
            work=lambda a, ins, outs: outs[0].size * ins[0].shape[-1] // 8,
        ),
    ),
    samples=_triangular_samples(1),
    doc="""Solve triangular systems ``op(A) X = alpha * B``, or ``X op(A) = alpha * B``, for X.

    A is on the left, or on the right with `rightside`. Only the lower triangle of A is read, or
    the upper one unless `lower`; op transposes if `transpose`. """,
    amp="fp32",
)
