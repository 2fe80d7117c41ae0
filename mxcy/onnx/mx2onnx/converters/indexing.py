"""Indexing by arrays of positions."""

import math

import numpy as np

from mxcy.onnx.mx2onnx.registry import convert

__all__ = ["resolved", "whole_numbers"]


def whole_numbers(G, x):
    """Convert positions to int64, truncating fractions."""
    return G.cast(x, np.int64)


def resolved(G, places, extent, mode):
    """Clip or wrap positions to the range of an axis."""
    places = whole_numbers(G, places)
    if mode == "raise":
        return places
    number = G.const(np.int64(extent)) if isinstance(extent, int) else G.squeeze(extent, (0,))
    if mode == "wrap":
        return G.Mod(places, number)
    last = G.const(np.int64(extent - 1)) if isinstance(extent, int) else number - 1
    return G.Min(G.Max(places, G.const(np.int64(0))), last)


@convert("take")
def take(a, G, x, places):
    """Gather along an axis; positions out of range are clipped or wrapped."""
    axis = a.axis % x.ndim
    return G.gather(x, resolved(G, places, G.dim(x, axis), a.mode), axis)


@convert("Embedding", "_contrib_SparseEmbedding")
def embedding(a, G, places, weight):
    """Gather rows of the weight; ids out of range raise in the runtime, unless clipped."""
    places = whole_numbers(G, places)
    if G.options.get("safe_indices"):
        places = resolved(G, places, G.dim(weight, 0), "clip")
    return G.gather(weight, places)


@convert("pick")
def pick(a, G, x, places):
    """Gather one element along an axis."""
    axis = a.axis
    if axis is None:
        x, axis = G.flat(x), 0
    axis %= x.ndim
    if places.ndim != x.ndim:
        places = G.unsqueeze(places, (axis,))
    places = resolved(G, places, G.dim(x, axis), a.mode)
    picked = G.op("GatherElements", x, places, axis=axis, shape=places.shape)
    if a.keepdims:
        return picked
    picked = G.squeeze(picked, (axis,))
    return G.reshape(picked, [1]) if not picked.shape and G.out.shape else picked


@convert("_take_along")
def take_along(a, G, x, places):
    """Gather elements along an axis."""
    axis = a.axis % x.ndim
    places = resolved(G, places, G.dim(x, axis), a.mode)
    shape = G.dims(x)
    shape[axis] = a.taken
    return G.op("GatherElements", x, G.reshape(places, shape), axis=axis)


@convert("batch_take")
def batch_take(a, G, x, places):
    """Gather one element per row."""
    rows = G.reshape(x, [-1, x.shape[-1]]) if x.ndim != 2 else x
    column = G.reshape(resolved(G, places, G.dim(rows, 1), "clip"), [-1, 1])
    picked = G.op("GatherElements", rows, column, axis=1, shape=column.shape)
    return G.reshape(picked, G.dims(places))


@convert("where")
def where(a, G, condition, x, y):
    """Select elements, or rows, of two arrays."""
    x, y = G.meet(x, y)
    flag = G.to_bool(condition)
    if 0 < flag.ndim < x.ndim:
        flag = G.unsqueeze(flag, tuple(range(flag.ndim, x.ndim)))
    return G.Where(flag, x, y)


@convert("_npi_where")
def np_where(a, G, condition, x, y):
    """Select with broadcasting."""
    x, y = (G.cast(v, G.out.dtype) for v in (x, y))
    return G.Where(G.to_bool(condition), x, y)


@convert("_npi_where_lscalar")
def where_number(a, G, condition, x):
    """Select a number where the condition holds."""
    x = G.cast(x, G.out.dtype)
    return G.Where(G.to_bool(condition), G.like(x, a.scalar), x)


@convert("_npi_where_rscalar")
def where_else_number(a, G, condition, x):
    """Select a number where the condition does not hold."""
    x = G.cast(x, G.out.dtype)
    return G.Where(G.to_bool(condition), x, G.like(x, a.scalar))


@convert("_npi_where_scalar2")
def where_numbers(a, G, condition):
    """Select between two numbers."""
    x, y = (G.const(np.asarray(n).astype(G.out.dtype)) for n in (a.x, a.y))
    return G.Where(G.to_bool(condition), x, y)


@convert("one_hot")
def one_hot(a, G, places):
    """Positions out of range give zero rows, whereas ONNX counts negative ones from the end."""
    places = whole_numbers(G, places)
    dtype = G.out.dtype
    hit = G.Equal(G.unsqueeze(places, (places.ndim,)), G.const(np.arange(a.depth, dtype=np.int64)))
    return G.Where(
        hit,
        G.const(np.asarray(a.on_value).astype(dtype)),
        G.const(np.asarray(a.off_value).astype(dtype)),
    )


# --- coordinates ---------------------------------------------------------------------------------


def _coordinates(G, places):
    """Move coordinates to the last axis, as in ONNX."""
    places = whole_numbers(G, places)
    return G.transpose(places, (*range(1, places.ndim), 0))


@convert("gather_nd")
def gather_nd(a, G, x, places):
    """Convert to GatherND."""
    return G.GatherND(x, _coordinates(G, places))


@convert("scatter_nd")
def scatter_nd(a, G, x, places):
    """Scatter elements into zeros."""
    return G.ScatterND(G.full(a.shape, 0, x.dtype), _coordinates(G, places), x)


@convert("_backward_gather_nd")
def add_nd(a, G, x, places):
    """Add elements at coordinates to zeros."""
    if G.opset < 16:
        G.unsupported("sums at coordinates before opset 16")
    zeros = G.full(a.shape, 0, x.dtype)
    return G.ScatterND(zeros, _coordinates(G, places), x, reduction="add")


@convert("_scatter_set_nd")
def scatter_set_nd(a, G, x, value, places):
    """Replace elements at coordinates."""
    return G.ScatterND(x, _coordinates(G, places), value)


def _updates(G, x, places, value):
    """Align coordinates and values in shape; a vector has one coordinate per value."""
    rows = places if places.ndim == 2 else G.unsqueeze(places, (0,) if places.ndim else (0, 1))
    if rows.shape[0] == -1:
        G.unsupported("a free number of coordinates")
    shape = [G.dim(rows, 1), *G.dims(x)[rows.shape[0] :]]
    return _coordinates(G, rows), G.expand(G.cast(value, x.dtype), shape)


@convert("_npx_index_update")
def index_update(a, G, x, places, value):
    """Replace elements at coordinates."""
    return G.ScatterND(x, *_updates(G, x, places, value))


@convert("_npx_index_add")
def index_add(a, G, x, places, value):
    """Add to elements at coordinates."""
    if G.opset < 16:
        G.unsupported("sums at coordinates before opset 16")
    return G.ScatterND(x, *_updates(G, x, places, value), reduction="add")


@convert("_contrib_index_copy")
def index_copy(a, G, x, places, rows):
    """Replace rows."""
    return G.ScatterND(x, G.unsqueeze(whole_numbers(G, places), (1,)), rows)


@convert("_contrib_index_array")
def index_array(a, G, x):
    """Coordinates of every element."""
    if not x.static:
        G.unsupported("free extents")
    return G.const(np.asarray(G.node.op.ref(a, np, np.zeros(x.shape, np.int8))))


@convert("_ravel_multi_index")
def ravel(a, G, places):
    """Convert coordinates to flat positions."""
    steps = [math.prod(a.shape[i + 1 :]) for i in range(len(a.shape))]
    steps = G.reshape(G.ints(*steps), [len(steps), *[1] * (places.ndim - 1)])
    return G.reduce("Sum", G.Mul(whole_numbers(G, places), steps), (0,))


@convert("_unravel_index")
def unravel(a, G, places):
    """Convert flat positions to coordinates."""
    left, parts = whole_numbers(G, places), []
    for extent in a.shape[:0:-1]:
        quotient = left / extent
        parts.append(G.Sub(left, quotient * extent))
        left = quotient
    parts = [G.unsqueeze(part, (0,)) for part in (left, *parts[::-1])]
    return G.cast(G.concat(parts, 0), G.out.dtype)


@convert("_contrib_boolean_mask")
def boolean_mask(a, G, x, flags):
    """Select rows by flags."""
    return G.op("Compress", x, G.to_bool(flags), axis=0)


@convert("_npx_nonzero")
def nonzero(a, G, x):
    """Coordinates of nonzero elements, one per row."""
    return G.transpose(G.op("NonZero", x, shape=(max(x.ndim, 1), -1)), (1, 0))


# --- sequences -----------------------------------------------------------------------------------


def _inside(G, a, x, length):
    axis = a.axis
    shape = [1] * x.ndim
    shape[axis] = -1
    steps = G.reshape(G.arange(0, G.dim(x, axis)), shape)
    shape = [1] * x.ndim
    shape[1 - axis] = -1
    return G.Less(steps, G.reshape(whole_numbers(G, length), shape))


@convert("SequenceMask")
def sequence_mask(a, G, x, length=None):
    """Fill elements beyond the ends of sequences."""
    if length is None:
        return x
    return G.Where(_inside(G, a, x, length), x, G.like(x, a.value))


@convert("SequenceLast")
def sequence_last(a, G, x, length=None):
    """Select the last step of each sequence."""
    axis = a.axis
    if length is None:
        return G.gather(x, G.const(np.int64(-1)), axis)
    extent = G.dim(x, axis)
    last = resolved(G, G.Sub(whole_numbers(G, length), G.const(np.int64(1))), extent, "clip")
    x = x if axis == 1 else G.transpose(x, (1, 0, *range(2, x.ndim)))
    return G.op("GatherND", x, G.unsqueeze(last, (1,)), batch_dims=1)


@convert("SequenceReverse")
def sequence_reverse(a, G, x, length=None):
    """Reverse each sequence, keeping elements beyond its end."""
    if length is None:
        return G.slice(x, [-1], [-(2**63)], [0], [-1])
    zero = G.const(np.int64(0))
    most = G.squeeze(G.as_vector(G.dim(x, 0)), (0,))
    length = G.Max(G.Min(whole_numbers(G, length), most), zero)
    flat = x if x.ndim > 2 else G.unsqueeze(x, (2,)) if x.ndim == 2 else x
    backwards = G.op("ReverseSequence", flat, length, time_axis=0, batch_axis=1, shape=flat.shape)
    return backwards if flat is x else G.squeeze(backwards, (2,))
