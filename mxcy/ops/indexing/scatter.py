"""Operators on coordinates: gather_nd, scatter_nd, index conversion, masks."""

from math import prod

import numpy as np

from mxcy._base import dtypes
from mxcy._base.errors import InvalidIndexError
from mxcy.ops.core.attrs import Double, Int, IntOrNone, Shape, ShapeOrNone, Str
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, normal_axis, require, same_dtype, whole_shape
from mxcy.ops.core.params import GATHER, UNRAVEL
from mxcy.ops.core.record import native, op, sample, stop, values
from mxcy.ops.indexing.indexing import integers, sum_dtype, wide_bytes

__all__ = []

_INT64 = dtypes.CODES["int64"]
_WIDE = ("float32", "float64", "float16", "bfloat16", "int8", "int64")


# --- gather_nd and scatter_nd --------------------------------------------------------------------


def _places(xp, indices, shape):
    """Return coordinates as a tuple of integer arrays; negative ones count from the end.

    Raises
    ------
    IndexError
        If a coordinate is out of bounds.
    """
    places = []
    for axis, (row, extent) in enumerate(zip(integers(indices), shape, strict=False)):
        outside = row[(row < -extent) | (row >= extent)]
        if outside.size:
            raise InvalidIndexError(
                f"index {outside.flat[0]} is out of bounds for axis {axis} with size {extent}"
            )
        places.append(xp.where(row < 0, row + extent, row))
    return tuple(places)


def _gathered(shape, indices):
    """Return the shape of the elements of `shape` at coordinates of shape `indices`."""
    if shape is None or indices is None:
        return None
    require(len(indices) > 1, f"indices: needs at least 2 dimensions, got {indices}")
    fits = indices[0] != 0 and indices[0] <= len(shape)
    require(fits, f"indices: {indices[0]} coordinates for an array of shape {shape}")
    return None if indices[0] == -1 else (*indices[1:], *shape[indices[0] :])


def _gather_kernel(name, shape_of, data=0, index=1, inplace=False, rows=False):
    """Return a kernel over coordinates in an array of shape ``whole(a, ins)``, or over its rows."""

    def params(a, ins, outs):
        shape, n = shape_of(a, ins), 1 if rows else ins[index].shape[0]
        return {
            "ndim": n,
            "data": data,
            "index": index,
            "inner": prod(shape[n:]),
            "shape": shape[:n],
        }

    return native(
        name,
        struct=GATHER,
        params=params,
        when=lambda a, ins, outs: None if ins[index].size else "no coordinates",
        workspace=lambda a, ins, outs: 8 * ins[index].size + wide_bytes(ins[data], outs[0]),
        inplace=inplace,
        mixed=True,
    )


@op(
    "gather_nd",
    aliases=("_npi_gather_nd", "_npx_gather_nd", "_npi_advanced_indexing_multiple"),
    inputs="data indices",
)
class GatherND:
    """Gather elements or slices at coordinates: ``out[i...] = data[indices[0, i...], ...]``.

    Shapes: data (d0, ..., dn), indices (m, i...), out (i..., dm, ..., dn). Negative coordinates
    count from the end.

    Raises
    ------
    IndexError
        If a coordinate is out of bounds.
    """

    def infer(a, data, indices):
        return Spec(_gathered(data.shape, indices.shape), data.dtype)

    def grad(a, F, g, indices, specs):
        return F._backward_gather_nd(g, indices, shape=specs[0].shape)

    def ref(a, xp, data, indices):
        return data[_places(xp, indices, data.shape)]

    kernels = (_gather_kernel("gather_nd", lambda a, ins: ins[0].shape),)
    complexes = True
    samples = (
        sample((3, 4), np.array([[0, -1, 2], [3, 1, -4]], "int32"), dtypes=_WIDE),
        sample((3, 4), np.array([[0, 2, 2]], "int64")),
        sample((2, 3, 4), np.array([[[0.9, 1], [1, 0]], [[1, 2], [0, 0]]], "float32")),
    )


def _check_scatter(a, data, indices, name="data"):
    data.fill(name, _gathered(whole_shape(a.shape), indices.shape))


def _infer_scatter(a, data, indices):
    _check_scatter(a, data, indices)
    return Spec(a.shape, data.dtype)


def _scatter_gradient(a, F, g, indices):
    return F.gather_nd(g, indices)


@op("scatter_nd", inputs="data indices")
class ScatterND:
    """Scatter data into zeros of a shape: ``out[indices[0, i...], ...] = data[i...]``.

    For repeated coordinates the last element wins.
    """

    shape: Shape

    infer, grad = _infer_scatter, _scatter_gradient

    def ref(a, xp, data, indices):
        out = xp.zeros(a.shape, data.dtype)
        out[_places(xp, indices, a.shape)] = data
        return out

    kernels = (_gather_kernel("scatter_nd", lambda a, ins: a.shape),)
    complexes = True
    samples = (
        sample((3,), np.array([[0, -1, 2], [3, 1, 0]], "int32"), shape=(3, 4), dtypes=_WIDE),
        sample((2, 4), np.array([[2, 0]], "int64"), shape=(3, 4)),
    )


@op("_backward_gather_nd", inputs="data indices")
class GatherNDGradient:
    """Scatter-add `data` at coordinates `indices` into zeros of the given shape."""

    shape: Shape

    infer, grad = _infer_scatter, _scatter_gradient

    def ref(a, xp, data, indices):
        out = xp.zeros(a.shape, sum_dtype(data.dtype))
        xp.add.at(out, _places(xp, indices, a.shape), data)
        return out

    kernels = (_gather_kernel("scatter_add_nd", lambda a, ins: a.shape),)
    complexes = True
    samples = (
        sample((3,), np.array([[0, 2, 0], [3, 1, 3]], "int32"), shape=(3, 4), dtypes=_WIDE),
        sample((3, 4), np.array([[2, 0, -1]], "int64"), shape=(3, 4)),
    )


@op("_scatter_set_nd", aliases=("_npi_scatter_set_nd",), inputs="lhs rhs indices")
class ScatterSetND:
    """Copy `lhs`, of shape `shape`, and set ``out[indices[0, i...], ...] = rhs[i...]``."""

    shape: Shape

    def infer(a, lhs, rhs, indices):
        dtype = same_dtype((lhs, rhs), ("lhs", "rhs"))
        lhs.fill("lhs", a.shape)
        _check_scatter(a, rhs, indices, "rhs")
        return Spec(a.shape, dtype)

    def grad(a, F, g, rhs, indices):
        kept = F._scatter_set_nd(g, F.zeros_like(rhs), indices, shape=a.shape)
        return kept, F.gather_nd(g, indices)

    def ref(a, xp, lhs, rhs, indices):
        out = xp.array(lhs)
        out[_places(xp, indices, a.shape)] = rhs
        return out

    kernels = (
        _gather_kernel("scatter_set_nd", lambda a, ins: a.shape, data=1, index=2, inplace=True),
    )
    complexes = True
    samples = (
        sample((3, 4), (2,), np.array([[0, 1], [2, -1]], "int32"), shape=(3, 4), dtypes=_WIDE),
    )


# --- rows ----------------------------------------------------------------------------------------


@op("_contrib_index_copy", inputs="old_tensor index_vector new_tensor")
class IndexCopy:
    """Replace row ``index_vector[i]`` of `old_tensor` by row i of `new_tensor`.

    Raises
    ------
    IndexError
        If an index is out of bounds.
    """

    def infer(a, old_tensor, index_vector, new_tensor):
        dtype = same_dtype((old_tensor, new_tensor), ("old_tensor", "new_tensor"))
        if index_vector.shape is not None and old_tensor.shape is not None:
            require(index_vector.ndim == 1, f"index_vector: must be 1-D, got {index_vector.shape}")
            require(old_tensor.ndim > 0, "old_tensor: expected at least one dimension")
            new_tensor.fill("new_tensor", (*index_vector.shape, *old_tensor.shape[1:]))
        return Spec(old_tensor.shape, dtype)

    def grad(a, F, g, index_vector):
        taken = F.take(g, index_vector)
        return F._contrib_index_copy(g, index_vector, F.zeros_like(taken)), None, taken

    def ref(a, xp, old_tensor, index_vector, new_tensor):
        out = xp.array(old_tensor)
        out[_places(xp, index_vector[None], old_tensor.shape)] = new_tensor
        return out

    kernels = (
        _gather_kernel(
            "scatter_set_nd", lambda a, ins: ins[0].shape, data=2, index=1, inplace=True, rows=True
        ),
    )
    samples = (
        sample((4, 3), np.array([2, 0], "int64"), (2, 3)),
        sample((4,), np.array([3], "float32"), (1,)),
    )


@op("_contrib_boolean_mask", aliases=("_npi_boolean_mask",), inputs="data index")
class BooleanMask:
    """Select the rows of `data` whose entry in `index` is nonzero; `axis` must be 0.

    The number of rows depends on the values, so the operator waits for them.
    """

    axis: Int = 0

    def infer(a, data, index):
        require(a.axis == 0, f"axis: only 0 is supported, got {a.axis}")
        if data.shape is None:
            return Spec(None, data.dtype)
        index.fill("index", data.shape[:1])
        return Spec((-1, *data.shape[1:]), data.dtype)

    def eager(a, F, array, data, index):
        BooleanMask.infer(a, [Spec(data.shape), Spec(index.shape)])
        return F.take(data, array(np.flatnonzero(index.asnumpy())))

    def ref(a, xp, data, index):
        return data[index != 0]

    complexes = True
    samples = (sample((4, 3), values(0, 2, (4,), "int32")), sample((5,), np.zeros(5, "float32")))


# --- index conversion -------------------------------------------------------------------------


@op("_contrib_index_array", ignores=("data",))
class IndexArray:
    """Return the int64 coordinates of every element along a new last axis, or only `axes`."""

    axes: ShapeOrNone = None

    def infer(a, data):
        if data.shape is None:
            return Spec(None, _INT64)
        axes = range(data.ndim) if a.axes is None else a.axes
        require(len(axes) > 0 or data.ndim == 0, "axes: expected at least one")
        for axis in axes:
            normal_axis(axis, data.ndim, "axes")
        return Spec((*data.shape, len(axes)), _INT64)

    grad = stop

    def ref(a, xp, data):
        axes = range(data.ndim) if a.axes is None else a.axes
        if not axes:
            return xp.zeros((*data.shape, 0), "int64")
        places = xp.indices(data.shape)
        return xp.stack([places[normal_axis(axis, data.ndim)] for axis in axes], -1).astype("int64")

    samples = (sample((2, 3)), sample((2, 3), axes=(-1, 0)), sample((4,), axes=(0,)), sample(()))


@op(
    "_contrib_arange_like",
    aliases=("_npx_arange_like",),
    ignores=("data",),
    numpy=(
        "npx.arange_like(data, start=0.0, step=1.0, repeat=1, ctx=None, axis=None, out=None, "
        "name=None)"
    ),
)
class ArangeLike:
    """Return start, start + step, ... in the shape of `data`, or as a vector along `axis`.

    Every value is repeated `repeat` times.
    """

    start: Double = 0.0
    step: Double = 1.0
    repeat: Int = 1
    ctx: Str = ""
    axis: IntOrNone = None

    def infer(a, data):
        require(a.repeat > 0, f"repeat: must be positive, got {a.repeat}")
        if a.axis is None or data.shape is None:
            return Spec(data.shape if a.axis is None else (-1,), data.dtype)
        return Spec((data.shape[normal_axis(a.axis, data.ndim)],), data.dtype)

    grad = stop

    def ref(a, xp, data):
        shape = data.shape if a.axis is None else (data.shape[a.axis],)
        numbers = xp.arange(prod(shape)) // a.repeat
        return (a.start + a.step * numbers).astype(data.dtype).reshape(shape)

    samples = (
        sample((2, 3)),
        sample((2, 4), axis=-1, start=2, step=0.5),
        sample((2, 3), repeat=4, dtypes=("float32", "int32")),
    )


def _check_ravelled(a):
    require(a.shape, "shape: must have at least one entry")


@op("_ravel_multi_index", aliases=("ravel_multi_index",), in_symbols=InSymbols(named_input=True))
class RavelMultiIndex:
    """Convert coordinates, one column each, to flat indices in an array of shape `shape`.

    Shapes: data (n, m) for n entries in `shape`, out (m,). The first entry may be -1.
    """

    shape: Shape = None

    def infer(a, data):
        _check_ravelled(a)
        data.fill("data", (len(a.shape), -1))
        return Spec(data.shape[1:], data.dtype)

    grad = stop

    def ref(a, xp, data):
        steps = xp.asarray([prod(a.shape[i + 1 :]) for i in range(len(a.shape))])
        return (integers(data) * steps[:, None]).sum(0).astype(data.dtype)

    samples = (
        sample(np.array([[3, 6, 6], [4, 5, 1]], "float32"), shape=(7, 6)),
        sample(np.array([[3, 6], [4, 5]], "int64"), shape=(-1, 6)),
    )


@op("_unravel_index", aliases=("unravel_index", "_npi_unravel_index"))
class UnravelIndex:
    """Convert flat indices to coordinates in an array of shape `shape`.

    Shapes: data any, out (n, data...) for n entries in `shape`, whose first may be -1.
    """

    shape: Shape = None

    def infer(a, data):
        _check_ravelled(a)
        return Spec(None if data.shape is None else (len(a.shape), *data.shape), data.dtype)

    grad = stop

    def ref(a, xp, data):
        remaining, parts = integers(data), []
        for extent in a.shape[:0:-1]:
            # Truncating division as in C: negative indices keep their sign.
            quotient = xp.trunc(remaining / extent).astype("int64")
            parts.append(remaining - quotient * extent)
            remaining = quotient
        return xp.stack([remaining, *parts[::-1]]).astype(data.dtype)

    kernels = (
        native(
            "unravel_index",
            UNRAVEL,
            lambda a, ins, outs: {"ndim": len(a.shape), "shape": (0, *a.shape[1:])},
            when=lambda a, ins, outs: None if len(a.shape) <= 32 else "too many dimensions",
        ),
    )
    samples = (
        sample(values(-500, 9000, (300,), "int64"), shape=(30, 20, 15)),
        sample(values(0, 9000, (7, 40)), shape=(-1, 20, 15), dtypes=("float32", "float64")),
        sample(values(0, 200, (70,), "uint8"), shape=(250,)),
        sample(np.array([22, 41, -1], "float32"), shape=(7, 6)),
        sample(np.array([[22, 41], [7, 0]], "int32"), shape=(-1, 6)),
    )
