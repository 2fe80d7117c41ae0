"""`mx.np` operators on diagonals and triangles."""

import math

from mxcy._base import dtypes
from mxcy.ops.core.attrs import Field, Int, Long, Offset, Shape
from mxcy.ops.core.infer import Spec, normal_axis, require, whole_shape
from mxcy.ops.core.params import COPY, TRIANGLE
from mxcy.ops.core.record import native, op, register, sample
from mxcy.ops.core.result_types import ACCUMULATE
from mxcy.ops.shape.strided import FILL, loops, strided, strides_of

__all__ = []

_KINDS = ("float32", "float64", "int8", "bool")


def _placed(offset, axis1, axis2, shape):
    """Return axes, first row, first column and length (may be 0) of a diagonal."""
    require(len(shape) > 1, f"diag requires an array of at least two dimensions, got {shape}")
    first, second = normal_axis(axis1, len(shape), "axis1"), normal_axis(axis2, len(shape), "axis2")
    require(first != second, f"axis1 and axis2 are both {first}")
    row, column = max(-offset, 0), max(offset, 0)
    length = max(min(shape[first] - row, shape[second] - column), 0)
    length = -1 if -1 in (shape[first], shape[second]) else length
    return first, second, row, column, length


def _diagonal_shape(offset, axis1, axis2, shape):
    first, second, _, _, length = _placed(offset, axis1, axis2, shape)
    return (*(n for i, n in enumerate(shape) if i not in (first, second)), length)


def _walked(offset, axis1, axis2, shape):
    """Return strides and offset of a diagonal in an array of shape `shape`."""
    first, second, row, column, _ = _placed(offset, axis1, axis2, shape)
    strides = strides_of(shape)
    walked = [n for i, n in enumerate(strides) if i not in (first, second)]
    return [*walked, strides[first] + strides[second]], row * strides[first] + column * strides[
        second
    ]


def _read_loops(where):
    def params(a, ins, outs):
        strides, start = _walked(*where(a), ins[0].shape)
        return loops(outs[0].shape, strides, src_offset=start)

    return params


def _write_loops(where):
    """Return loops that write an array, flattened, to a diagonal of zeros."""

    def params(a, ins, outs):
        strides, start = _walked(*where(a), outs[0].shape)
        shape = ins[0].shape if len(ins[0].shape) == len(strides) else (ins[0].size,)
        return loops(shape, strides_of(shape), strides, dst_offset=start, before=FILL)

    return params


def _diagonal(xp, data, offset, axis1, axis2):
    """Return NumPy's diagonal, which mistakes the least 32-bit offset for a positive one."""
    return xp.diagonal(data, max(offset, -data.shape[axis1]), axis1, axis2)


def _own(a):
    return a.offset, a.axis1, a.axis2


def _first_two(a):
    return a.k, 0, 1


# --- diagonals -----------------------------------------------------------------------------------


@op("_npi_diagonal", numpy="diagonal(a, offset=0, axis1=0, axis2=1)")
class Diagonal:
    """Return a diagonal over two axes, as the last axis."""

    offset: Long = 0
    axis1: Int = 0
    axis2: Int = 1

    dtypes = _KINDS
    complexes = True
    samples = (
        sample((3, 4)),
        sample((2, 3, 4), offset=1, axis1=-1, axis2=0),
        sample((3, 3), offset=-2),
        sample((2, 3), offset=5, grad=False),
        sample((0, 3), grad=False),
    )
    kernels = (strided(_read_loops(_own), rank=lambda a, ins, outs: ins[0].ndim),)

    def infer(a, data):
        if data.shape is None:
            return Spec(None, data.dtype)
        return Spec(_diagonal_shape(*_own(a), data.shape), data.dtype)

    def grad(a, F, g, specs):
        return F._backward_npi_diagonal(
            g, offset=a.offset, axis1=a.axis1, axis2=a.axis2, shape=specs[0].shape
        )

    def ref(a, xp, data):
        return _diagonal(xp, data, *_own(a))


@op("_backward_npi_diagonal")
class DiagonalGradient:
    """Write `data` to a diagonal over two axes of zeros of the given shape."""

    offset: Long = 0
    axis1: Int = 0
    axis2: Int = 1
    shape: Shape

    complexes = True
    samples = (
        sample((3,), shape=(3, 4)),
        sample((2, 2), offset=-1, axis1=0, axis2=1, shape=(3, 4, 2)),
        sample((3, 2), offset=0, axis1=2, axis2=0, shape=(2, 3, 4)),
        sample((0,), offset=5, shape=(2, 3), grad=False),
    )
    kernels = (strided(_write_loops(_own), rank=lambda a, ins, outs: len(a.shape)),)

    def infer(a, data):
        data.fill("data", _diagonal_shape(*_own(a), whole_shape(a.shape)))
        return Spec(a.shape, data.dtype)

    def grad(a, F, g):
        return F._npi_diagonal(g, offset=a.offset, axis1=a.axis1, axis2=a.axis2)

    def ref(a, xp, data):
        out = xp.zeros(a.shape, data.dtype)
        first, second, row, column, length = _placed(*_own(a), a.shape)
        steps = xp.arange(length)
        xp.moveaxis(out, (first, second), (-2, -1))[..., row + steps, column + steps] = data
        return out


def _matrix_infer(a, data):
    size = -1 if data.shape is None or -1 in data.shape else data.size + abs(a.k)
    return Spec((size, size), data.dtype)


@op("_npi_diag", numpy="diag(array, k=0)")
class Diag:
    """Extract diagonal `k` of a matrix, or construct a matrix from a vector."""

    k: Long = 0

    dtypes = _KINDS
    complexes = True
    samples = (
        sample((3,)),
        sample((3,), k=-2),
        sample((3, 4), k=1),
        sample((2, 3), k=5, grad=False),
        sample((0,), k=1, grad=False),
    )
    kernels = (
        strided(
            lambda a, ins, outs: (_write_loops if ins[0].ndim == 1 else _read_loops)(_first_two)(
                a, ins, outs
            ),
            rank=lambda a, ins, outs: 2,
        ),
    )

    def infer(a, data):
        if data.shape is None:
            return Spec(None, data.dtype)
        require(data.ndim in (1, 2), f"Input must be 1- or 2-d, got {data.shape}")
        if data.ndim == 1:
            return _matrix_infer(a, data)
        return Spec(_diagonal_shape(a.k, 0, 1, data.shape), data.dtype)

    def grad(a, F, g, specs):
        if specs[0].ndim == 1:
            return F._npi_diagonal(g, offset=a.k)
        return F._backward_npi_diagonal(g, offset=a.k, shape=specs[0].shape)

    def ref(a, xp, data):
        return xp.diag(data, a.k) if data.ndim == 1 else _diagonal(xp, data, a.k, 0, 1)


@op("_npi_diagflat", numpy="diagflat(array, k=0)")
class DiagFlat:
    """Construct a matrix with the flattened array on diagonal `k`."""

    k: Int = 0

    dtypes = _KINDS
    complexes = True
    samples = (sample((2, 2)), sample((3,), k=-1), sample(()), sample((2, 0), k=2, grad=False))
    kernels = (strided(_write_loops(_first_two), rank=lambda a, ins, outs: 2),)
    infer = _matrix_infer

    def grad(a, F, g, specs):
        return F._backward_reshape(F._npi_diagonal(g, offset=a.k), shape=specs[0].shape)

    def ref(a, xp, data):
        return xp.diagflat(data, a.k)


@op(
    "_npi_trace",
    uses_types=True,
    numpy="trace(a, offset=0, axis1=0, axis2=1, out=None)",
    amp="fp32",
)
class Trace:
    """Compute the sum along a diagonal over two axes."""

    offset: Int = 0
    axis1: Int = 0
    axis2: Int = 1

    dtypes = ("float32", "float64", "int32", "bool")
    complexes = True
    samples = (
        sample((3, 4)),
        sample((2, 3, 4), offset=1, axis1=-1, axis2=0),
        sample((2, 3), offset=-1),
        sample((2, 3), offset=7, grad=False),
        sample((2, 0), grad=False),
    )
    kernels = (
        native(
            "diagonal_sum",
            COPY,
            lambda a, ins, outs: _read_loops(_own)(
                a, ins, [Spec(_diagonal_shape(*_own(a), ins[0].shape), ins[0].dtype)]
            ),
            when=lambda a, ins, outs: None if ins[0].size else "there are no elements",
        ),
    )

    def infer(a, data):
        if data.shape is None:
            return Spec(None, ACCUMULATE(a, data))
        return Spec(_diagonal_shape(*_own(a), data.shape)[:-1], ACCUMULATE(a, data))

    def grad(a, F, g, specs):
        if not dtypes.is_inexact(specs[0].dtype) and ACCUMULATE(a, specs[0]) != specs[0].dtype:
            return None
        shape = specs[0].shape
        spread = F._npi_broadcast_to(
            F.expand_dims(g, axis=-1), shape=_diagonal_shape(*_own(a), shape)
        )
        return F._backward_npi_diagonal(
            spread, offset=a.offset, axis1=a.axis1, axis2=a.axis2, shape=shape
        )

    def ref(a, xp, data):
        kind = dtypes.dtype_of(ACCUMULATE(a, Spec(data.shape, dtypes.code_of(data.dtype))))
        return xp.asarray(_diagonal(xp, data, *_own(a)).sum(-1, dtype=kind))


# --- triangles -----------------------------------------------------------------------------------


def _triangle_infer(a, data):
    if data.shape is None:
        return Spec(None, data.dtype)
    require(data.ndim > 0, "data: expected at least one dimension")
    return Spec(data.shape * 2 if data.ndim == 1 else data.shape, data.dtype)


def _register_triangle(name, words):
    def grad(a, F, g, specs):
        kept = getattr(F, f"_npi_{name}")(g, k=a.k)
        return F.sum(kept, axis=0) if specs[0].ndim == 1 else kept

    register(
        f"_npi_{name}",
        fields=(Field("k", Offset, 0),),
        infer=_triangle_infer,
        grad=grad,
        ref=lambda a, xp, data: getattr(xp, name)(data, a.k),
        complexes=True,
        samples=(
            sample((3, 4)),
            sample((2, 3, 3), k=-1),
            sample((3,), k=1),
            sample((2, 0), grad=False),
        ),
        dtypes=_KINDS,
        kernels=(
            native(
                name,
                TRIANGLE,
                lambda a, ins, outs: {
                    "outer": math.prod(ins[0].shape[:-2]),
                    "rows": ins[0].shape[-2],
                    "columns": ins[0].shape[-1],
                    "k": a.k,
                },
                when=lambda a, ins, outs: (
                    None if ins[0].size and ins[0].ndim > 1 else "there is no matrix"
                ),
            ),
        ),
        doc=f"Set the elements {words} diagonal `k` of matrices to zero.",
        numpy=f"{name}(m, k=0)",
    )


_register_triangle("tril", "above")
_register_triangle("triu", "below")
