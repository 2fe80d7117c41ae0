"""Scattering."""

import math

import numpy as np

from mxcy._base import dtypes
from mxcy.base import MXNetError
from mxcy.onnx.onnx2mx.families.indexing import counted, from_below
from mxcy.onnx.onnx2mx.table import row

__all__ = ["scattered"]

#: maximum number of sequential writes for reductions without an operator
_MOST = 1024
_STEPS = {"mul": "multiply", "max": "maximum", "min": "minimum"}


def scattered(F, x, places, updates, reduction="none"):
    """Write `updates` into an array at `places`, a Value of shape (depth, count...)."""
    if 0 in updates.shape:
        return x
    shape, word = F.extents(x), dtypes.name_of(x.spec.dtype)
    is_open = any(isinstance(n, str) for n in shape)
    if reduction in ("none", "add"):
        operator = "_scatter_set_nd" if reduction == "none" else "_backward_gather_nd"
        inputs = [x, updates, places] if reduction == "none" else [updates, places]
        updated = (
            F.shaped(operator, inputs, {"shape": shape}, (shape, word))
            if is_open
            else F(operator, *inputs, shape=shape)
        )
        return updated if reduction == "none" else x + updated
    if reduction not in _STEPS:
        raise MXNetError(f"attribute reduction: {reduction!r} is not implemented")
    # Positions may repeat, so writes are sequential.
    depth, count = places.full_shape[0], math.prod(places.full_shape[1:])
    if count > _MOST:
        raise NotImplementedError(f"reduction {reduction} of more than {_MOST} updates")
    tail = updates.full_shape[places.ndim - 1 :]
    places, updates = places.reshape(depth, count), updates.reshape(count, *tail)
    for i in range(count):
        place = F.part(places, 1, i, i + 1)
        update = F.part(updates, 0, i, i + 1)
        updated = F.binary(_STEPS[reduction], F("gather_nd", x, place), update)
        x = F("_scatter_set_nd", x, updated, place, shape=shape)
    return x


@row("ScatterND", since=11)
def scatter_nd(F, a, x, indices, updates):
    depth = indices.shape[-1] if indices.shape[-1] != -1 else indices.full_shape[-1]
    extents = F.constant(F.open.array(F.extents(x)[:depth]))
    places = indices.astype("int64")
    if indices.array is None or (indices.array.size and indices.array.min() < 0):
        places = F.where(F("_npi_less", places, F.like(0, places)), places + extents, places)
    order = (places.ndim - 1, *range(places.ndim - 1))
    return scattered(F, x, places.transpose(*order), updates, a.reduction or "none")


@row("Scatter", since=9)
@row("ScatterElements", since=11)
def scatter_elements(F, a, x, indices, updates):
    axis, extents = a.axis % x.ndim, F.extents(indices)
    (extent,) = F.extents(x)[axis : axis + 1]
    if isinstance(extent, str):
        extent = F.constant(F.open.array([extent]).reshape(()))
    own = from_below(F, indices.astype("int64"), extent)
    if -1 in indices.shape:
        zeros = F("zeros_like", own)
        grid = [
            own if i == axis else zeros + counted(F, n).reshape(-1, *(1,) * (x.ndim - 1 - i))
            for i, n in enumerate(extents)
        ]
    else:
        grid = [
            own if i == axis else F.constant(part)
            for i, part in enumerate(np.indices(extents, np.int64))
        ]
    places = F("_npi_stack", *grid, axis=0)
    return scattered(F, x, places, updates, a.reduction or "none")


@row("TensorScatter", since=24)
def tensor_scatter(F, a, past, update, start=None):
    """Write the keys or values of a step into a cache along an axis."""
    axis = a.axis % past.ndim
    shape, steps = past.full_shape, update.full_shape[axis]
    grid = [F.constant(part) for part in np.indices(update.full_shape, np.int64)]
    if start is not None:
        spread = (shape[0], *(1,) * (past.ndim - 1))
        place = grid[axis] + start.astype("int64").reshape(*spread)
        if a.mode == "circular":
            place = F("_npi_mod", place, F.like(shape[axis], place))
        grid[axis] = place
    elif steps > shape[axis]:
        raise MXNetError(f"{steps} steps do not fit a cache of {shape[axis]}")
    return scattered(F, past, F("_npi_stack", *grid, axis=0), update)
