"""Slicing, concatenation, splitting and padding."""

import numpy as np

from mxcy.onnx.mx2onnx.registry import convert

__all__ = []

_FIRST, _LAST = -(2**63), 2**63 - 1


def _bounds(G, a, x):
    """Convert the attributes of `slice` to (starts, ends, axes, steps)."""
    steps = list(a.step or ()) + [None] * (len(a.begin) - len(a.step or ()))
    steps = [step or 1 for step in steps]
    starts, ends, axes, kept = [], [], [], []
    for axis, (begin, end, step) in enumerate(zip(a.begin, a.end, steps, strict=True)):
        if begin is None and end is None and step == 1:
            continue
        starts.append(begin if begin is not None else 0 if step > 0 else _LAST)
        ends.append(end if end is not None else _LAST if step > 0 else _FIRST)
        axes.append(axis)
        kept.append(step)
    return starts, ends, axes, kept


@convert("slice")
def slice_all(a, G, x):
    """None means no bound."""
    return G.slice(x, *_bounds(G, a, x))


@convert("slice_axis")
def slice_axis(a, G, x):
    """Slice along one axis."""
    return G.slice(x, [a.begin], [_LAST if a.end is None else a.end], [a.axis % x.ndim])


@convert("slice_like")
def slice_like(a, G, x, like):
    """Slice to the extents of another array."""
    axes = [axis % x.ndim for axis in a.axes] if a.axes else list(range(min(x.ndim, like.ndim)))
    return G.slice(x, [0] * len(axes), [G.dim(like, axis) for axis in axes], axes)


@convert("Crop")
def crop(a, G, x, like=None):
    """Crop images."""
    height, width = a.h_w if like is None else (G.dim(like, 2), G.dim(like, 3))
    top, left = a.offset
    if a.center_crop:
        top, left = (
            G.over(G.minus(G.dim(x, axis), size), 2) for axis, size in ((2, height), (3, width))
        )
    ends = [G.sum_of(top, height), G.sum_of(left, width)]
    return G.slice(x, [top, left], ends, [2, 3])


def _assign(G, a, x, value):
    """Replace a slice, by positions."""
    if not x.static:
        G.unsupported("free extents")
    places = np.arange(int(np.prod(x.shape)), dtype=np.int64).reshape(x.shape)
    steps = [step or 1 for step in (a.step or ())] or [1] * len(a.begin)
    chosen = places[tuple(slice(b, e, s) for b, e, s in zip(a.begin, a.end, steps, strict=True))]
    flat = G.flat(x)
    value = G.flat(G.expand(value, chosen.shape))
    written = G.ScatterElements(flat, G.const(chosen.reshape(-1)), value, axis=0)
    return G.reshape(written, x.shape)


@convert("_slice_assign")
def slice_assign(a, G, x, value):
    """Replace a slice by an array."""
    return _assign(G, a, x, value)


@convert("_slice_assign_scalar")
def slice_assign_number(a, G, x):
    """Replace a slice by a number."""
    return _assign(G, a, x, G.like(x, a.scalar))


# --- concatenation and splitting -----------------------------------------------------------------


@convert("Concat", "_rnn_param_concat")
def concat(a, G, *values):
    """Concatenate along an axis."""
    return G.concat(G.meet(*values), a.dim % values[0].ndim)


@convert("stack")
def stack(a, G, *values):
    """Concatenate along a new axis."""
    axis = a.axis % (values[0].ndim + 1)
    return G.concat([G.unsqueeze(x, (axis,)) for x in G.meet(*values)], axis)


def _raised(G, x, ndim):
    if ndim == 3:
        return G.unsqueeze(x, {0: (0, 1, 2), 1: (0, 2), 2: (2,)}.get(x.ndim, ()))
    return G.unsqueeze(x, tuple(range(ndim - x.ndim)))


@convert("_npi_vstack")
def vstack(a, G, *values):
    """Concatenate along the first of at least two axes."""
    return G.concat([_raised(G, x, 2) for x in G.meet(*values)], 0)


@convert("_npi_hstack")
def hstack(a, G, *values):
    """Concatenate along the second axis, vectors along the first."""
    values = [_raised(G, x, 1) for x in G.meet(*values)]
    return G.concat(values, 0 if values[0].ndim == 1 else 1)


@convert("_npi_dstack")
def dstack(a, G, *values):
    """Concatenate along the third axis."""
    return G.concat([_raised(G, x, 3) for x in G.meet(*values)], 2)


@convert("_npi_column_stack")
def column_stack(a, G, *values):
    """Concatenate columns; vectors are columns."""
    values = [x if x.ndim > 1 else G.reshape(x, [-1, 1]) for x in G.meet(*values)]
    return G.concat(values, 1)


def _pieces(G, x, bounds, axis, squeeze):
    """Split at bounds, the first of which is 0."""
    extent = x.shape[axis]
    if extent == -1:
        ends = [*bounds[1:], _LAST]
        parts = [G.slice(x, [b], [e], [axis]) for b, e in zip(bounds, ends, strict=True)]
    else:
        bounds = [b + extent if b < 0 else min(b, extent) for b in bounds]
        sizes = [max(e - b, 0) for b, e in zip(bounds, [*bounds[1:], extent], strict=True)]
        if sum(sizes) == extent:
            parts = G.split(x, sizes, axis)
        else:
            ends = [*bounds[1:], extent]
            parts = [G.slice(x, [b], [e], [axis]) for b, e in zip(bounds, ends, strict=True)]
    return [G.squeeze(part, (axis,)) for part in parts] if squeeze else parts


def _sections(G, x, count, axis, squeeze):
    """Split into equal parts."""
    extent = x.shape[axis]
    if extent == -1:
        G.unsupported("a free extent cut into sections")
    small, more = divmod(extent, count)
    sizes = [small + 1] * more + [small] * (count - more)
    parts = G.split(x, sizes, axis)
    return [G.squeeze(part, (axis,)) for part in parts] if squeeze else parts


@convert("SliceChannel")
def slice_channel(a, G, x):
    """Split into equal parts."""
    return _sections(G, x, a.num_outputs, a.axis % x.ndim, a.squeeze_axis)


@convert("_split_v2", "_npi_hsplit")
def split(a, G, x):
    """Split at positions, or into sections."""
    axis = a.axis % x.ndim if G.node.op.name == "_split_v2" else min(1, x.ndim - 1)
    if a.sections:
        return _sections(G, x, a.sections, axis, a.squeeze_axis)
    return _pieces(G, x, list(a.indices), axis, a.squeeze_axis)


# --- padding -------------------------------------------------------------------------------------


@convert("Pad")
def pad(a, G, x):
    """Pad with a constant, the edge, or reflection."""
    width = a.pad_width
    return G.pad(x, width[0::2], width[1::2], a.mode, a.constant_value)


@convert("_npi_pad")
def np_pad(a, G, x):
    """Same as `Pad`; ONNX has no further modes."""
    if a.mode not in ("constant", "edge", "reflect") or a.reflect_type != "even":
        G.unsupported(f"mode={a.mode!r}, reflect_type={a.reflect_type!r}")
    if not x.ndim:
        return x
    before, after = zip(*_pairs(a.pad_width, x.ndim), strict=True)
    if a.mode == "reflect" and any(
        max(b, e) >= n >= 0 for b, e, n in zip(before, after, x.shape, strict=True)
    ):
        G.unsupported("reflections of reflections")
    return G.pad(x, before, after, a.mode, a.constant_values)


def _pairs(width, ndim):
    pairs = [tuple(np.atleast_1d(pair)) for pair in np.atleast_1d(np.asarray(width, dtype=object))]
    flat = [int(n) for pair in pairs for n in np.atleast_1d(pair).reshape(-1)]
    if len(flat) == 1:
        flat = flat * 2
    return (
        [tuple(flat)] * ndim if len(flat) == 2 else list(zip(flat[0::2], flat[1::2], strict=True))
    )


@convert("_npi_diff")
def diff(a, G, x):
    """Differences of neighbours, repeatedly."""
    axis = a.axis % x.ndim
    for _ in range(a.n):
        late = G.slice(x, [1], [_LAST], [axis])
        early = G.slice(x, [0], [-1], [axis])
        x = G.Not(G.Equal(late, early)) if x.dtype == bool else G.Sub(late, early)
    return x


@convert("_npi_ediff1d")
def ediff(a, G, x, *ends):
    """Differences of neighbours, with optional numbers before and after."""
    flat = G.flat(x)
    differences = G.Sub(G.slice(flat, [1], [_LAST], [0]), G.slice(flat, [0], [-1], [0]))
    ends = list(ends)
    before = ends.pop(0) if a.to_begin_arr_given else None
    after = ends.pop(0) if a.to_end_arr_given else None
    if a.to_begin_scalar is not None:
        before = G.const(np.asarray([a.to_begin_scalar]).astype(x.dtype))
    if a.to_end_scalar is not None:
        after = G.const(np.asarray([a.to_end_scalar]).astype(x.dtype))
    parts = [before and G.flat(before), differences, after and G.flat(after)]
    return G.concat([part for part in parts if part is not None], 0)
