"""Diagonals and triangles of (batches of) matrices."""

import math

from mxcy.ops.core.attrs import Bool, Field, Int
from mxcy.ops.core.infer import Spec, require
from mxcy.ops.core.record import op, register, sample, values
from mxcy.ops.matrix.linalg import square

_OFFSET = Field("offset", Int, 0)


def _diagonal_extent(shape, offset):
    extent = shape[-1] - abs(offset)
    fits = shape[-1] == -1 or extent > 0 or not (offset or shape[-1])
    require(fits, f"offset: {offset} is outside of matrices of {shape}")
    return -1 if shape[-1] == -1 else extent


def _infer_extractdiag(a, A):
    shape = square(A)
    if shape is not None:
        shape = (*shape[:-2], _diagonal_extent(shape, a.offset))
    return Spec(shape, A.dtype)


def _infer_makediag(a, A):
    if A.shape is None:
        return Spec(None, A.dtype)
    require(A.ndim >= 1, f"A: expected at least 1 dimension, got {A.shape}")
    extent = -1 if A.shape[-1] == -1 else A.shape[-1] + abs(a.offset)
    return Spec((*A.shape[:-1], extent, extent), A.dtype)


def _make_diagonal(a, xp, A):
    extent = A.shape[-1] + abs(a.offset)
    out = xp.zeros((*A.shape[:-1], extent, extent), A.dtype)
    rows, columns = _diagonal_places(xp, A.shape[-1], a.offset)
    out[..., rows, columns] = A
    return out


def _diagonal_places(xp, n, offset):
    places = xp.arange(n)
    return places + max(-offset, 0), places + max(offset, 0)


register(
    "_linalg_extractdiag",
    aliases=("linalg_extractdiag",),
    inputs="A",
    fields=(_OFFSET,),
    infer=_infer_extractdiag,
    grad=lambda a, F, g: F._linalg_makediag(g, offset=a.offset),
    ref=lambda a, xp, A: xp.diagonal(A, a.offset, -2, -1),
    samples=(sample((3, 3)), sample((2, 4, 4), offset=1), sample((4, 4), offset=-2)),
    doc="Extract the diagonals of square matrices; a positive `offset` is above the main diagonal.",
    amp="fp32",
)
register(
    "_linalg_makediag",
    aliases=("linalg_makediag",),
    inputs="A",
    fields=(_OFFSET,),
    infer=_infer_makediag,
    grad=lambda a, F, g: F._linalg_extractdiag(g, offset=a.offset),
    ref=_make_diagonal,
    samples=(sample((3,)), sample((2, 3), offset=1), sample((3,), offset=-2)),
    doc="Construct square matrices with the given diagonals at `offset` above the main one.",
    amp="fp32",
)


def _is_lower(a):
    return a.lower if a.offset == 0 else a.offset < 0


def _triangle_places(a, xp, n):
    """Return rows and columns of the elements of a packed triangle of n-by-n matrices.

    Lower triangles are packed row by row, upper ones column by column.
    """
    extent = n - abs(a.offset)
    slow, fast = xp.tril_indices(extent)
    slow = slow + abs(a.offset)
    return (slow, fast) if _is_lower(a) else (fast, slow)


def _infer_extracttrian(a, A):
    shape = square(A)
    if shape is not None:
        extent = _diagonal_extent(shape, a.offset)
        shape = (*shape[:-2], -1 if extent == -1 else extent * (extent + 1) // 2)
    return Spec(shape, A.dtype)


def _side(packed):
    """Return the extent of the triangle with that many elements, or None."""
    side = (math.isqrt(8 * packed + 1) - 1) // 2
    return side if side * (side + 1) // 2 == packed else None


def _infer_maketrian(a, A):
    if A.shape is None:
        return Spec(None, A.dtype)
    require(A.ndim >= 1, f"A: expected at least 1 dimension, got {A.shape}")
    extent = -1
    if A.shape[-1] != -1:
        side = _side(A.shape[-1])
        require(side is not None, f"A: {A.shape[-1]} elements do not form a triangle")
        extent = side + abs(a.offset)
    return Spec((*A.shape[:-1], extent, extent), A.dtype)


def _extract_triangle(a, xp, A):
    rows, columns = _triangle_places(a, xp, A.shape[-1])
    return A[..., rows, columns]


def _make_triangle(a, xp, A):
    extent = _side(A.shape[-1]) + abs(a.offset)
    out = xp.zeros((*A.shape[:-1], extent, extent), A.dtype)
    rows, columns = _triangle_places(a, xp, extent)
    out[..., rows, columns] = A
    return out


_TRIANGLE_FIELDS = (_OFFSET, Field("lower", Bool, True))
_TRIANGLE_DOC = """`offset` shifts the diagonal of the triangle: a positive one selects an upper
    triangle, a negative one a lower triangle, whatever `lower`. Lower triangles are packed row by
    row, upper ones column by column."""

register(
    "_linalg_extracttrian",
    aliases=("linalg_extracttrian",),
    inputs="A",
    fields=_TRIANGLE_FIELDS,
    infer=_infer_extracttrian,
    grad=lambda a, F, g: F._linalg_maketrian(g, offset=a.offset, lower=a.lower),
    ref=_extract_triangle,
    samples=(
        sample((3, 3)),
        sample((2, 4, 4), lower=False),
        sample((4, 4), offset=1),
        sample((4, 4), offset=-1, lower=False),
    ),
    doc=f"""Extract triangles of square matrices as vectors.

    {_TRIANGLE_DOC}
    """,
    amp="fp32",
)
register(
    "_linalg_maketrian",
    aliases=("linalg_maketrian",),
    inputs="A",
    fields=_TRIANGLE_FIELDS,
    infer=_infer_maketrian,
    grad=lambda a, F, g: F._linalg_extracttrian(g, offset=a.offset, lower=a.lower),
    ref=_make_triangle,
    samples=(
        sample((6,)),
        sample((2, 10), lower=False),
        sample((6,), offset=1),
        sample((6,), offset=-1, lower=False),
    ),
    doc=f"""Construct square matrices with the given triangles and zeros elsewhere.

    {_TRIANGLE_DOC}
    """,
    amp="fp32",
)


@op("_linalg_sumlogdiag", aliases=("linalg_sumlogdiag",), inputs="A", amp="fp32")
class SumLogDiag:
    """Compute the sum of the logarithms of the diagonals of square matrices.

    A single matrix gives shape (1,).
    """

    samples = (sample(values(0.5, 2, (3, 3)), tol=4), sample(values(0.5, 2, (2, 4, 4)), tol=4))

    def infer(a, A):
        shape = square(A)
        return Spec(None if shape is None else shape[:-2] or (1,), A.dtype)

    def grad(a, F, g, A, specs):
        g = F.Reshape(g, shape=(*specs[0].shape[:-2], 1))
        return F._linalg_makediag(F.broadcast_div(g, F._linalg_extractdiag(A)))

    def ref(a, xp, A):
        out = xp.log(xp.diagonal(A, 0, -2, -1)).sum(-1)
        return out.reshape(out.shape or (1,))
