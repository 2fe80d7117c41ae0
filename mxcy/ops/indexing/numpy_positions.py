"""`mx.np` operators that create indices: grids, diagonals, triangles."""

from mxcy._base import dtypes
from mxcy.ops.core.attrs import DType, IntOrNone, Long, Offset, Shape, Str
from mxcy.ops.core.in_symbols import TYPED
from mxcy.ops.core.infer import Spec, require, require_value
from mxcy.ops.core.record import op, sample, stop

__all__ = []

_ELEMENT = DType(None, *dtypes.CODES)
_LONG = dtypes.CODES["int64"]


def _word(a, default):
    """Return the dtype of NumPy's computation and that of the result."""
    word = default if a.dtype is None else a.dtype
    return ("float32" if word == "bfloat16" else word), dtypes.code_of(word)


@op(
    "_npi_indices",
    inputs="",
    dtypes=("int64",),
    numpy="indices(dimensions, dtype=None, ctx=None, device=None)",
)
class Indices:
    """Return the coordinates of a grid, stacked along a new first axis."""

    dimensions: Shape
    dtype: _ELEMENT = None
    ctx: Str = ""

    samples = (
        sample(dimensions=(2, 3)),
        sample(dimensions=(2, 0, 3), dtype="int32"),
        sample(dimensions=()),
        sample(dimensions=(4,), dtype="float32"),
    )

    def infer(a):
        shape = a.dimensions
        require(min(shape, default=0) >= 0, f"dimensions: got negative sizes, {shape}")
        return Spec((len(shape), *shape), _word(a, "int64")[1])

    def ref(a, xp):
        return xp.indices(a.dimensions, _word(a, "int64")[0])


@op(
    "_npi_tri",
    inputs="",
    in_symbols=TYPED,
    dtypes=("float32",),
    numpy="tri(N, M=None, k=0, dtype=None, ctx=None, device=None)",
)
class Tri:
    """Return a matrix with ones at and below diagonal `k`, zeros elsewhere; float32 by default."""

    N: Long
    M: IntOrNone = None
    k: Offset = 0
    dtype: _ELEMENT = None
    ctx: Str = ""

    samples = (sample(N=3), sample(N=2, M=4, k=1), sample(N=3, k=-1, dtype="bool"), sample(N=0))

    def infer(a):
        columns = a.N if a.M is None else a.M
        require(a.N >= 0 and columns >= 0, f"N, M: got negative sizes, {a.N}, {columns}")
        return Spec((a.N, columns), _word(a, "float32")[1])

    def ref(a, xp):
        return xp.tri(a.N, a.M, a.k, _word(a, "float32")[0])


@op("_npi_diag_indices_from", ignores=("data",))
class DiagIndicesFrom:
    """Return the indices of the main diagonal of an array with equal extents, one row per axis."""

    samples = (sample((3, 3), grad=False), sample((2, 2, 2), grad=False))
    grad = stop

    def infer(a, data):
        if data.shape is None:
            return Spec(None, _LONG)
        require(data.ndim > 1, "input array must be at least 2-d")
        require_value(len(set(data.shape)) == 1, "All dimensions of input must be of equal length")
        return Spec((data.ndim, data.shape[0]), _LONG)

    def ref(a, xp, data):
        return xp.stack([xp.arange(data.shape[0])] * data.ndim)


def _triangle(length):
    return length * (length + 1) // 2


@op("_npi_tril_indices", inputs="", outputs="output0 output1", dtypes=("int64",))
class TrilIndices:
    """Return the row and column indices at and below diagonal `k` of a matrix."""

    n: Long
    k: Long = 0
    m: Long

    samples = (
        sample(n=3, m=3),
        sample(n=3, m=2, k=1),
        sample(n=2, m=4, k=-1),
        sample(n=0, m=2),
        sample(n=3, m=1 << 62),
    )

    def infer(a):
        require(a.n >= 0 and a.m >= 0, f"n, m: got negative sizes, {a.n}, {a.m}")
        # the whole triangle, minus what exceeds the last column
        reach = (a.n + a.k, a.k, a.n + a.k - a.m, a.k - a.m)
        below, above, beyond, outside = (_triangle(max(length, 0)) for length in reach)
        count = below - above - beyond + outside
        return Spec((count,), _LONG), Spec((count,), _LONG)

    def ref(a, xp):
        # Columns beyond the end of the last row are empty.
        rows, columns = xp.tril_indices(a.n, a.k, min(a.m, max(a.n + a.k, 0)))
        return rows, columns
