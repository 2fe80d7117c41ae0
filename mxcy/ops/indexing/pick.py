"""Operators that pick elements along one axis, for each position of the others."""

from math import prod

import numpy as np

from mxcy._base import dtypes
from mxcy.ops.core.attrs import Bool, Enum, Int, IntOrNone, Shape
from mxcy.ops.core.infer import Spec, normal_axis, require, whole_shape
from mxcy.ops.core.params import ALONG
from mxcy.ops.core.record import native, op, sample, values
from mxcy.ops.indexing.indexing import MODES, index_bytes, resolved, sum_dtype, wide_bytes

__all__ = []

_WIDE = ("float32", "float64", "float16", "bfloat16", "int8", "int64")


def _along_params(shape, axis, taken, mode):
    return {
        "outer": prod(shape[:axis]),
        "extent": shape[axis],
        "inner": prod(shape[axis + 1 :]),
        "taken": taken,
        "mode": MODES[mode],
    }


def _picked(a, data, index):
    """Return the axis of pick and the index's shape with extent 1 there."""
    require(a.axis is not None, "axis: pick needs an axis")
    axis = normal_axis(a.axis, len(data))
    kept = (*data[:axis], 1, *data[axis + 1 :])
    without = (*data[:axis], *data[axis + 1 :])
    if index is not None:
        expected = kept if len(index) == len(data) else without
        Spec(index).fill("index", expected)
    return axis, kept, without


@op(
    "pick",
    aliases=("choose_element_0index", "_npx_pick"),
    inputs="data index",
    numpy="npx.pick(data, index, axis=-1, mode='clip', keepdims=False, out=None, name=None)",
)
class Pick:
    """Pick one element along `axis` for each position of the other axes.

    `index` has the shape of `data` without `axis`, or with extent 1 there. Modes are ``'clip'`` and
    ``'wrap'``. With `keepdims` the axis is kept with extent 1.
    """

    axis: IntOrNone = -1
    keepdims: Bool = False
    mode: Enum("clip", "wrap") = "clip"

    def infer(a, data, index):
        if data.shape is None:
            return Spec(None, data.dtype)
        _, kept, without = _picked(a, data.shape, index.shape)
        if index.shape is None:
            index.fill("index", without)
        return Spec(kept if a.keepdims else without, data.dtype)

    def grad(a, F, g, index, specs):
        axis, _, _ = _picked(a, specs[0].shape, None)
        return F._backward_along(g, index, axis=axis, mode=a.mode, shape=specs[0].shape)

    def ref(a, xp, data, index):
        axis, kept, without = _picked(a, data.shape, index.shape)
        places = resolved(xp, index, data.shape[axis], a.mode).reshape(kept)
        return xp.take_along_axis(data, places, axis).reshape(kept if a.keepdims else without)

    kernels = (
        native(
            "along",
            struct=ALONG,
            params=lambda a, ins, outs: _along_params(
                ins[0].shape, normal_axis(a.axis, ins[0].ndim), 1, a.mode
            ),
            workspace=index_bytes(1),
            mixed=True,
            work=lambda a, ins, outs: ins[1].size,
        ),
    )
    samples = (
        sample((4, 3), values(-1, 5, (4,), "int32"), dtypes=_WIDE),
        sample((4, 3), np.array([[0.0, 1.9, 2.0]], "float32"), axis=0, keepdims=True),
        sample((2, 3, 4), values(-9, 9, (2, 4), "int64"), axis=1, mode="wrap"),
    )


@op("_backward_along", inputs="grad index")
class AlongGradient:
    """Scatter-add `grad` at `index` along `axis` (non-negative) into zeros of a shape.

    `grad` and `index` have any extent along `axis`, or lack the dimension.
    """

    axis: Int
    mode: Enum("clip", "wrap") = "clip"
    shape: Shape

    def infer(a, grad, index):
        shape = whole_shape(a.shape)
        require(0 <= a.axis < len(shape), f"axis: {a.axis} is out of bounds for shape {shape}")
        for spec, name in ((grad, "grad"), (index, "index")):
            if spec.known and spec.ndim != len(shape) - 1:
                spec.fill(name, (*shape[: a.axis], -1, *shape[a.axis + 1 :]))
            elif spec.known:
                spec.fill(name, (*shape[: a.axis], *shape[a.axis + 1 :]))
        same = not (grad.known and index.known) or grad.size == index.size
        require(same, f"index: {index.shape} has not one entry for each of grad, {grad.shape}")
        return Spec(shape, grad.dtype)

    def grad(a, F, g, index, specs):
        taken = _taken_count(a, specs[0])
        gradient = F._take_along(g, index, axis=a.axis, mode=a.mode, taken=taken)
        return F._backward_reshape(gradient, shape=specs[0].shape)

    def ref(a, xp, grad, index):
        taken = _taken_count(a, Spec(grad.shape))
        shape = (*a.shape[: a.axis], taken, *a.shape[a.axis + 1 :])
        places = list(xp.indices(shape))
        places[a.axis] = resolved(xp, index, a.shape[a.axis], a.mode).reshape(shape)
        out = xp.zeros(a.shape, sum_dtype(grad.dtype))
        xp.add.at(out, tuple(places), grad.reshape(shape))
        return out

    kernels = (
        native(
            "along_grad",
            struct=ALONG,
            params=lambda a, ins, outs: _along_params(
                a.shape, a.axis, _taken_count(a, ins[0]), a.mode
            ),
            workspace=lambda a, ins, outs: 8 * ins[1].size + wide_bytes(ins[0], outs[0]),
            mixed=True,
        ),
    )
    complexes = True
    samples = (
        sample((4,), values(-1, 5, (4,), "int32"), axis=1, shape=(4, 3), dtypes=_WIDE),
        sample((2, 5, 3), values(-9, 9, (2, 5, 3), "int64"), axis=1, mode="wrap", shape=(2, 4, 3)),
    )


def _taken_count(a, grad):
    """Return the gradient's number of elements along `a.axis`."""
    others = prod(a.shape[: a.axis]) * prod(a.shape[a.axis + 1 :])
    return grad.size // others if others else 0


@op("_take_along", inputs="data index")
class TakeAlong:
    """Take `taken` elements along `axis` (non-negative) for each position of the other axes."""

    axis: Int
    mode: Enum("clip", "wrap") = "clip"
    taken: Int

    def infer(a, data, index):
        if data.shape is None:
            return Spec(None, data.dtype)
        require(0 <= a.axis < data.ndim, f"axis: {a.axis} is out of bounds for {data.shape}")
        require(a.taken >= 0, f"taken: must not be negative, got {a.taken}")
        shape = (*data.shape[: a.axis], a.taken, *data.shape[a.axis + 1 :])
        fits = -1 in shape or not index.known or index.size == Spec(shape).size
        require(fits, f"index: {index.shape} has not one entry for each element of {shape}")
        return Spec(shape, data.dtype)

    def grad(a, F, g, index, specs):
        return F._backward_along(g, index, axis=a.axis, mode=a.mode, shape=specs[0].shape)

    def ref(a, xp, data, index):
        shape = (*data.shape[: a.axis], a.taken, *data.shape[a.axis + 1 :])
        places = resolved(xp, index, data.shape[a.axis], a.mode).reshape(shape)
        return xp.take_along_axis(data, places, a.axis)

    kernels = (
        native(
            "along",
            struct=ALONG,
            params=lambda a, ins, outs: _along_params(ins[0].shape, a.axis, a.taken, a.mode),
            workspace=index_bytes(1),
            mixed=True,
            work=lambda a, ins, outs: ins[1].size,
        ),
    )
    complexes = True
    samples = (sample((4, 3), values(-1, 5, (4, 2), "int32"), axis=1, taken=2),)


@op("batch_take", inputs="a indices", names={"data": ("in", 0)})
class BatchTake:
    """Take element ``a[i, indices[i]]`` of each row i; `indices` are int32 and clipped."""

    def infer(a, data, indices):
        indices.fill("indices", dtype=dtypes.CODES["int32"])
        if data.shape is not None and indices.shape is not None:
            rows = data.shape[:-1]
            require(
                data.ndim > 1 and (-1 in (*rows, *indices.shape) or prod(rows) == indices.size),
                f"indices: {indices.shape} has not one entry for each row of {data.shape}",
            )
        return Spec(indices.shape, data.dtype)

    def ref(a, xp, data, indices):
        rows = data.reshape(-1, data.shape[-1])
        places = resolved(xp, indices, data.shape[-1], "clip").reshape(-1, 1)
        return xp.take_along_axis(rows, places, 1).reshape(indices.shape)

    kernels = (
        native(
            "along",
            struct=ALONG,
            params=lambda a, ins, outs: _along_params(ins[0].shape, ins[0].ndim - 1, 1, "clip"),
            workspace=index_bytes(1),
            mixed=True,
        ),
    )
    complexes = True
    samples = (sample((4, 3), values(-1, 5, (4,), "int32"), grad=False),)
