"""Concatenation, splitting and slicing."""

from mxcy._base import dtypes
from mxcy.base import MXNetError
from mxcy.onnx.onnx2mx.table import row
from mxcy.onnx.onnx2mx.values import UnknownValueError

__all__ = ["joined", "sliced"]


def joined(F, values, axis):
    """Concatenate values along an axis; empty ones only affect the dtype."""
    there = [value for value in values if 0 not in value.shape] or values[:1]
    if len({v.spec.dtype for v in values}) > 1:
        raise MXNetError("the inputs have different element types")
    if axis < 0:
        axis += values[0].ndim
    return F.concat(there if len(there) < len(values) and axis >= 0 else values, axis)


@row("Concat")
def concat(F, a, *values):
    axis = 1 if a.axis is None else a.axis
    known = all(value.spec.known for value in values)
    if known and len(values) > 1:
        extents = values[0].ndim
        kept = [v for v in values if v.shape[axis % extents] != 0]
        values = kept or values[:1]
    return F.concat(list(values), axis % values[0].ndim)


def _split(F, x, axis, parts):
    result, begin = [], 0
    for part in parts:
        result.append(F.part(x, axis, begin, begin + part))
        begin += part
    return tuple(result)


def _split_by_names(F, a, x, axis, parts):
    result, begin = [], 0
    for part in parts:
        end = F.open.combined("+", begin, part)
        result.append(_cut_by_names(F, x, {axis: (begin, end)}, {axis: part}, F.extents(x)))
        begin = end
    return tuple(result)


def _cut_by_names(F, x, bounds, sizes, named):
    """Slice axes whose bounds are ints or names."""
    begin, end = (
        tuple(bounds[axis][side] if axis in bounds else None for axis in range(x.ndim))
        for side in (0, 1)
    )
    shape = tuple(sizes.get(axis, n) for axis, n in enumerate(named))
    return F.shaped("slice", [x], {"begin": begin, "end": end},
                    (shape, dtypes.name_of(x.spec.dtype)))  # fmt: skip


@row("Split")
def split(F, a, x, parts=None):
    count = len(a.outputs) if a.num_outputs is None else a.num_outputs
    if count != len(a.outputs):
        raise MXNetError(f"attribute num_outputs: {count} for {len(a.outputs)} outputs")
    axis = (a.axis or 0) % x.ndim
    if parts is not None and parts.is_open:
        return _split_by_names(F, a, x, axis, parts.integers_or_names("the input split"))
    parts = a.split if parts is None else parts.integers("the input split")
    if parts is None:
        if count == 1:
            return x
        extent = x.full_shape[axis] if x.shape[axis] == -1 else x.shape[axis]
        if extent % count == 0 and extent:
            return tuple(F("SliceChannel", x, num_outputs=count, axis=axis))
        step = -(-extent // count)
        parts = [min(step, max(extent - step * i, 0)) for i in range(count)]
    if len(parts) != len(a.outputs):
        raise MXNetError(f"{len(parts)} parts {tuple(parts)} for {len(a.outputs)} outputs")
    if x.shape[axis] != -1 and sum(parts) != x.shape[axis] or min(parts, default=0) < 0:
        raise MXNetError(f"split: {tuple(parts)} are no parts of {x.shape} along axis {axis}")
    return _split(F, x, axis, parts)


def sliced(F, x, starts, ends, axes=None, steps=None):
    """Slice like NumPy, with ONNX's arguments."""
    axes = range(len(starts)) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    bounds = [(None, None, 1)] * x.ndim
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        if step == 0:
            raise MXNetError("the input steps: must not be 0")
        axis %= x.ndim
        extent = x.shape[axis]
        if extent >= 0:
            start, end, step = slice(start, end, step).indices(extent)
            if step > 0 and start >= end:
                start = end = 0
            elif step < 0 and start <= end:
                start, end, step = 0, 0, 1
            bounds[axis] = (start, None if end < 0 else end, step)
            continue
        # If the extent is unknown, both bounds must count from the same end.
        start, end = (None if abs(n) >= 1 << 31 else n for n in (start, end))
        if step < 0 and (start or end) is not None:
            x.full_shape  # noqa: B018  raises
        bounds[axis] = (start, end, step)
    if all(bound == (None, None, 1) for bound in bounds):
        return x
    begin, end, step = zip(*bounds, strict=True)
    return F("slice", x, begin=begin, end=end, step=step)


@row("Slice")
def slice_by_attributes(F, a, x):
    return sliced(F, x, a.starts, a.ends, a.axes)


@row("Slice", since=10)
def slice_(F, a, x, starts, ends, axes=None, steps=None):
    if starts.is_open or ends.is_open:
        return _slice_by_names(F, a, x, starts, ends, axes, steps)
    return sliced(
        F,
        x,
        starts.integers("the input starts"),
        ends.integers("the input ends"),
        None if axes is None else axes.integers("the input axes"),
        None if steps is None else steps.integers("the input steps"),
    )


def _slice_by_names(F, a, x, starts, ends, axes, steps):
    starts, ends = (
        starts.integers_or_names("the input starts"),
        ends.integers_or_names("the input ends"),
    )
    axes = range(len(starts)) if axes is None else axes.integers("the input axes")
    steps = (1,) * len(starts) if steps is None else steps.integers("the input steps")
    named = F.extents(x)
    bounds, sizes = {}, {}
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        if step != 1:
            raise UnknownValueError("steps must be 1 for open ends", tuple(F.inputs))
        axis %= x.ndim
        start, end = (_place(F, n, named[axis]) for n in (start, end))
        if (start, end) != (0, named[axis]):
            bounds[axis], sizes[axis] = (start, end), F.open.combined("-", end, start)
    return _cut_by_names(F, x, bounds, sizes, named) if bounds else x


def _place(F, n, extent):
    """Convert a slice bound to a position from the start, clipped to the extent."""
    if isinstance(n, str):
        return n if n == extent else F.open.combined("min", n, extent)
    if n < 0:
        return F.open.combined("+", extent, n)
    return F.open.combined("min", extent, n) if n and abs(n) < 1 << 31 else n and extent
