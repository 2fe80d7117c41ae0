"""Indexing."""

import math

import numpy as np

from mxcy._base import dtypes
from mxcy.base import MXNetError
from mxcy.onnx.onnx2mx.table import row

__all__ = ["along", "counted", "from_below"]


def from_below(F, indices, extent):
    """Normalize positions: negative ones count from the end."""
    if indices.array is not None and (indices.array.size == 0 or indices.array.min() >= 0):
        return indices
    return F.where(F("_npi_less", indices, F.like(0, indices)), indices + extent, indices)


def _check(indices, extent):
    if indices.array is not None and not indices.is_open and indices.array.size and extent >= 0:
        low, high = indices.array.min(), indices.array.max()
        if low < -extent or high >= extent:
            raise MXNetError(f"the indices {low} to {high} are not within an extent of {extent}")


@row("Gather")
def gather(F, a, x, indices):
    axis = a.axis % max(x.ndim, 1)
    _check(indices, x.shape[axis])
    ahead = indices.array is not None and (indices.array.size == 0 or indices.array.min() >= 0)
    return F("take", x, indices, axis=axis, mode="clip" if ahead else "wrap")


def along(F, x, indices, axis):
    """NumPy's `take_along_axis`, but other axes of `x` may be longer."""
    named, wanted = F.extents(x), F.extents(indices)
    if all(n == m or n == -1 for i, (n, m) in enumerate(zip(x.shape, indices.shape, strict=True))
           if i != axis) and not isinstance(wanted[axis], str):  # fmt: skip
        return F("_take_along", x, indices, axis=axis, mode="wrap", taken=wanted[axis])
    extents = tuple(
        n if i == axis else m for i, (n, m) in enumerate(zip(named, wanted, strict=True))
    )
    word = dtypes.name_of(x.spec.dtype)
    if extents != named:
        cut = {"begin": (0,) * x.ndim, "end": extents}
        x = (
            F.shaped("slice", [x], cut, (extents, word))
            if _has_names(extents)
            else F("slice", x, **cut)
        )
    attrs = {"axis": axis, "mode": "wrap", "taken": wanted[axis]}
    if not _has_names(wanted):
        return F("_take_along", x, indices, **attrs)
    return F.shaped("_take_along", [x, indices], attrs, (wanted, word))


def _has_names(extents):
    return any(isinstance(n, str) for n in extents)


def counted(F, extent):
    """The integers from 0 to an extent (exclusive)."""
    if not isinstance(extent, str):
        return F.constant(np.arange(extent, dtype=np.int64))
    attrs = {"start": 0, "stop": extent, "dtype": "int64"}
    return F.shaped("_npi_arange", [], attrs, ((extent,), "int64"))


@row("GatherElements", since=11)
def gather_elements(F, a, x, indices):
    return along(F, x, indices, a.axis % x.ndim)


@row("GatherND", since=11)
def gather_nd(F, a, x, indices):
    batch = a.batch_dims or 0
    depth = indices.shape[-1] if indices.shape[-1] != -1 else indices.full_shape[-1]
    if not batch and indices.array is not None:
        for place in range(depth):
            part = indices.array[..., place]
            _check(F.constant(part), x.shape[place])
    named = F.extents(x)
    places = indices.astype("int64")
    if indices.array is None or (indices.array.size and indices.array.min() < 0):
        below = F("_npi_less", places, F.like(0, places))
        ends = F.constant(F.open.array(named[batch : batch + depth]))
        places = F.where(below, places + ends, places)
    if batch:
        # implicit positions of the batch axes
        zeros = F("zeros_like", F.part(places, places.ndim - 1, 0, 1))
        own = []
        for axis, extent in enumerate(F.extents(indices)[:batch]):
            spread = (-1, *(1,) * (indices.ndim - 1 - axis))
            own.append(zeros + counted(F, extent).reshape(*spread))
        places = F.concat([*own, places], indices.ndim - 1)
    order = (places.ndim - 1, *range(places.ndim - 1))
    return F("gather_nd", x, places.transpose(*order))


@row("OneHot", since=9)
def one_hot(F, a, indices, depth, values):
    (depth,) = depth.integers("the input depth")
    axis = a.axis % (indices.ndim + 1)
    places = indices.astype("int64") if indices.kind == "f" else indices
    places = from_below(F, places, depth)
    extents = [1] * (indices.ndim + 1)
    extents[axis] = depth
    counted = F.constant(np.arange(depth).reshape(extents)).astype(places.dtype)
    hot = F("_npi_equal", counted, F("expand_dims", places, axis=axis))
    off = F.part(values, 0, 0, 1).reshape()
    on = F.part(values, 0, 1, 2).reshape()
    return F.where(hot, on, off)


@row("NonZero", since=9)
def non_zero(F, a, x):
    if x.array is not None:
        return F.constant(np.array(np.nonzero(np.atleast_1d(x.array)), np.int64))
    return F("transpose", F("_npx_nonzero", x), axes=(1, 0))


@row("Compress", since=9)
def compress(F, a, x, condition):
    axis = a.axis
    if axis is None:
        x, axis = x.reshape(-1), 0
    axis %= x.ndim
    if condition.array is not None:
        places = np.nonzero(condition.array)[0].astype(np.int64)
        return F("take", x, F.constant(places), axis=axis, mode="clip")
    extent = condition.full_shape[0]
    if extent < x.full_shape[axis]:
        x = F.part(x, axis, 0, extent)
    if axis == 0:
        return F("_npi_boolean_mask", x, condition)
    order = (axis, *(i for i in range(x.ndim) if i != axis))
    chosen = F("_npi_boolean_mask", x.transpose(*order), condition)
    return chosen.transpose(*(order.index(i) for i in range(x.ndim)))


@row("Trilu", since=14)
def trilu(F, a, x, k=None):
    rows, columns = F.extents(x)[-2:]
    if isinstance(rows, str) or isinstance(columns, str) or k is not None and k.array is None:
        k = F.constant(np.array(0, np.int64)) if k is None else k.reshape()
        right = counted(F, columns) - counted(F, rows).reshape(-1, 1)
        mask = F("_npi_greater_equal" if a.upper else "_npi_less_equal", right, k)
        return F.where(mask, x, F.like(0, x))
    (k,) = (0,) if k is None else k.integers("the input k")
    k = max(min(k, columns + 1), -rows - 1)
    mask = np.tri(rows, columns, k - 1 if a.upper else k, dtype=bool)
    mask = F.constant(~mask if a.upper else mask)
    return F.where(mask, x, F.like(0, x)) if math.prod(x.shape) else x


@row("ReverseSequence", since=10)
def reverse_sequence(F, a, x, lengths):
    time, batch = a.time_axis % x.ndim, a.batch_axis % x.ndim
    if time == batch or max(time, batch) > 1:
        raise MXNetError(f"attributes time_axis, batch_axis: got {a.time_axis}, {a.batch_axis}")
    transposed = x if time == 0 else F("SwapAxis", x, dim1=0, dim2=1)
    backwards = F(
        "SequenceReverse", transposed, lengths.astype("float32"), use_sequence_length=True
    )
    return backwards if time == 0 else F("SwapAxis", backwards, dim1=0, dim2=1)
