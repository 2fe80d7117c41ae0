"""Operators that select elements by another array: where, take, one_hot.

Indices may have any dtype; fractions are truncated. The mode determines the treatment of indices
out of bounds: ``'clip'`` takes the nearest, ``'wrap'`` wraps around and ``'raise'`` is an error.
"""

from math import prod

import numpy as np

from mxcy._base import dtypes
from mxcy._base.errors import MXNetError
from mxcy.ops.core.attrs import Double, DType, Enum, Int, Shape
from mxcy.ops.core.infer import Spec, normal_axis, require, same_dtype, whole_shape
from mxcy.ops.core.params import ONE_HOT, TAKE
from mxcy.ops.core.record import native, op, sample, stop, values
from mxcy.ops.core.stypes import densely
from mxcy.ops.reduce.float16_sum import narrow_first
from mxcy.ops.sparse.rules import taken

__all__ = [
    "MODES",
    "integers",
    "sum_dtype",
    "resolved",
    "take_params",
    "index_bytes",
    "take_grad_bytes",
    "wide_bytes",
]

#: kernel codes of the modes
MODES = {"clip": 0, "wrap": 1, "raise": 2}


def integers(indices):
    """Convert indices of any dtype to int64."""
    return indices.astype("int64")


def sum_dtype(dtype):
    """Return the dtype in which elements of `dtype` are summed."""
    return "float32" if dtype == "float16" else dtype


def resolved(xp, indices, extent, mode):
    """Return indices mapped to 0 <= index < extent.

    Raises
    ------
    MXNetError
        If an index is out of bounds in mode ``'raise'``, or the extent is 0.
    """
    indices = integers(indices)
    if indices.size and extent == 0:
        raise MXNetError("indices: cannot take elements of a dimension of size 0")
    if mode == "wrap":
        return indices % max(extent, 1)
    if mode == "raise" and indices.size and (indices.min() < 0 or indices.max() >= extent):
        raise MXNetError(f"indices: out of bounds for a dimension of size {extent}")
    return xp.clip(indices, 0, max(extent - 1, 0))


_HALVES = (dtypes.CODES["float16"], dtypes.CODES["bfloat16"])
_WIDE = ("float32", "float64", "float16", "bfloat16", "int8", "int64")


# --- where ---------------------------------------------------------------------------------------


@op("where", aliases=("_sparse_where",), inputs="condition x y", amp="widest")
class Where:
    """Choose elements of `x` where `condition` is nonzero, else of `y`.

    `x` and `y` have the same shape and dtype. `condition` has that shape, or one entry per row (the
    first dimension).
    """

    def infer(a, condition, x, y):
        dtype = same_dtype((x, y), ("x", "y"))
        y.fill("y", x.shape)
        x.fill("x", y.shape)
        if condition.shape is not None and x.shape is not None:
            if condition.ndim != 1 or x.ndim == 1:
                condition.fill("condition", x.shape)
            else:
                condition.fill("condition", x.shape[:1])
        return Spec(x.shape, dtype)

    def infer_back(a, ins, outs):
        for name, spec in zip(("x", "y"), ins[1:], strict=True):
            spec.fill(name, outs[0].shape, outs[0].dtype)

    def grad(a, F, g, condition, needs):
        zeros = F.zeros_like(g)
        return (
            None,
            F.where(condition, g, zeros) if needs[1] else None,
            F.where(condition, zeros, g) if needs[2] else None,
        )

    def ref(a, xp, condition, x, y):
        chosen = condition.reshape(condition.shape + (1,) * (x.ndim - condition.ndim)) != 0
        return xp.where(chosen, x, y)

    kernels = (native("where", select=lambda ins, outs: outs[0].dtype, mixed=True),)
    stypes = densely("csr default default")
    complexes = True
    samples = (
        sample(values(0, 2, (3, 4), "int32"), (3, 4), (3, 4), dtypes=_WIDE),
        sample(values(0, 2, (3,), "int64"), (3, 4), (3, 4)),
        sample(values(0, 2, (7,), "int8"), (7,), (7,)),
        sample(np.array([[0.5, 0, -0.0, np.nan]], "float32"), (1, 4), (1, 4)),
    )


# --- take ----------------------------------------------------------------------------------------


def _taken(shape, indices, axis):
    return (*shape[:axis], *indices, *shape[axis + 1 :])


def take_params(shape, axis, mode, data=0, index=1):
    """Return the parameters of the kernels take and take_grad.

    Parameters
    ----------
    shape : tuple of int
        Shape of the array to take from.
    axis : int
        Not negative.
    mode : str
        One of `MODES`.
    data, index : int
        Input positions of the elements and the indices.
    """
    return {
        "outer": prod(shape[:axis]),
        "extent": shape[axis],
        "inner": prod(shape[axis + 1 :]),
        "mode": MODES[mode],
        "data": data,
        "index": index,
    }


def index_bytes(input_number):
    """Return the workspace for one input's indices as int64."""
    return lambda a, ins, outs: 8 * ins[input_number].size


def wide_bytes(*specs):
    """Return the workspace for float32 copies of float16 and bfloat16 arrays."""
    return sum(4 * spec.size for spec in specs if spec.dtype in _HALVES)


@op("take", aliases=("_npi_take",), inputs="a indices", names={"data": ("in", 0)})
class Take:
    """Take elements at `indices` along `axis`.

    Shapes: a (..., n, ...), indices any, out (..., indices..., ...).

    Raises
    ------
    MXNetError
        If an index is out of bounds in mode ``'raise'``.
    """

    axis: Int = 0
    mode: Enum("clip", "raise", "wrap") = "clip"

    def infer(a, data, indices):
        if data.shape is None or indices.shape is None:
            return Spec(None, data.dtype)
        axis = normal_axis(a.axis, data.ndim)
        return Spec(_taken(data.shape, indices.shape, axis), data.dtype)

    def grad(a, F, g, indices, specs):
        shape = specs[0].shape
        axis = normal_axis(a.axis, len(shape))
        return F._backward_take(g, indices, axis=axis, mode=a.mode, shape=shape)

    def ref(a, xp, data, indices):
        return xp.take(data, resolved(xp, indices, data.shape[a.axis], a.mode), a.axis)

    stypes = (taken(),)
    kernels = (
        native(
            "take",
            struct=TAKE,
            params=lambda a, ins, outs: take_params(
                ins[0].shape, normal_axis(a.axis, ins[0].ndim), a.mode
            ),
            workspace=index_bytes(1),
            mixed=True,
        ),
    )
    complexes = True
    samples = (
        sample((5, 3), values(-2, 8, (4,), "int32"), dtypes=_WIDE),
        sample((5, 3), values(-9, 9, (2, 2), "int64"), axis=-1, mode="wrap"),
        sample((2, 5, 3), np.array([4.9, 0.0, 1.5, -0.5], "float32"), axis=1),
        sample((5,), values(0, 5, (3,), "uint8"), mode="raise"),
        sample((3, 2), values(0, 3, (), "int8")),
    )


def take_grad_bytes(a, ins, outs, axis=0):
    """Return the workspace of take_grad: indices, their order by row, and row starts."""
    lists = 2 * ins[1].size + outs[0].shape[axis] + 1
    return 8 * lists + wide_bytes(ins[0], outs[0])


@op("_backward_take", inputs="grad indices")
class TakeGradient:
    """Scatter-add `grad` at `indices` along `axis` (non-negative) into zeros of a shape."""

    axis: Int
    mode: Enum("clip", "raise", "wrap")
    shape: Shape

    def infer(a, grad, indices):
        shape = whole_shape(a.shape)
        require(0 <= a.axis < len(shape), f"axis: {a.axis} is out of bounds for shape {shape}")
        if indices.shape is not None:
            grad.fill("grad", _taken(shape, indices.shape, a.axis))
        return Spec(shape, grad.dtype)

    def grad(a, F, g, indices):
        return F.take(g, indices, axis=a.axis, mode=a.mode)

    def ref(a, xp, grad, indices):
        shape = (a.shape[a.axis], prod(a.shape[: a.axis]), prod(a.shape[a.axis + 1 :]))
        out = xp.zeros(shape, sum_dtype(grad.dtype))
        rows = resolved(xp, indices, a.shape[a.axis], a.mode).reshape(-1)
        blocks = grad.reshape(out.shape[1], rows.size, out.shape[2])
        xp.add.at(out, rows, xp.moveaxis(blocks, 1, 0))
        return xp.moveaxis(out, 0, 1).reshape(a.shape)

    kernels = narrow_first(
        native(
            "take_grad",
            struct=TAKE,
            params=lambda a, ins, outs: take_params(a.shape, a.axis, a.mode),
            workspace=lambda a, ins, outs: take_grad_bytes(a, ins, outs, a.axis),
            mixed=True,
        )
    )
    complexes = True
    samples = (
        sample(
            (6, 3), values(-2, 8, (6,), "int32"), axis=0, mode="clip", shape=(5, 3), dtypes=_WIDE
        ),
        sample((2, 4, 3), values(-9, 9, (4,), "int64"), axis=1, mode="wrap", shape=(2, 5, 3)),
        sample((2, 4, 20), values(-9, 9, (4,), "int64"), axis=1, mode="wrap", shape=(2, 5, 20)),
    )


# --- one_hot -------------------------------------------------------------------------------------


@op(
    "one_hot",
    aliases=("_npx_one_hot",),
    inputs="indices",
    numpy=(
        "npx.one_hot(data, depth=None, on_value=1.0, off_value=0.0, dtype='float32', "
        "out=None, name=None)"
    ),
)
class OneHot:
    """Encode indices as one-hot vectors of `depth` elements.

    Elements are `on_value` at the index, else `off_value`. Shapes: indices any, out (indices...,
    depth). Indices out of bounds give `off_value` throughout.
    """

    depth: Int
    on_value: Double = 1.0
    off_value: Double = 0.0
    dtype: DType("bfloat16", "float16", "float32", "float64", "int32", "int64", "int8", "uint8") = (
        "float32"
    )

    def infer(a, indices):
        require(a.depth >= 0, f"depth: must not be negative, got {a.depth}")
        shape = None if indices.shape is None else (*indices.shape, a.depth)
        return Spec(shape, dtypes.code_of(a.dtype))

    grad = stop

    def ref(a, xp, indices):
        on = integers(indices)[..., None] == xp.arange(a.depth)
        kind = "float32" if a.dtype == "bfloat16" else a.dtype
        return xp.where(
            on, xp.asarray(a.on_value).astype(kind), xp.asarray(a.off_value).astype(kind)
        )

    kernels = (
        native(
            "one_hot",
            struct=ONE_HOT,
            params=lambda a, ins, outs: {"depth": a.depth, "on": a.on_value, "off": a.off_value},
            select=lambda ins, outs: outs[0].dtype,
            workspace=index_bytes(0),
            mixed=True,
        ),
    )
    samples = (
        sample(values(-1, 4, (2, 3), "int32"), depth=3),
        sample(
            np.array([0.0, 1.9, 7.0], "float32"), depth=3, on_value=5, off_value=-1.5, dtype="int32"
        ),
        sample(values(0, 3, (4,), "uint8"), depth=3, dtype="bfloat16"),
        sample(values(0, 3, (4,), "int64"), depth=3, dtype="float16", on_value=0.5),
        sample(values(0, 3, (4,), "int64"), depth=0),
    )
