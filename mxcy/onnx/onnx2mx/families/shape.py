"""Other views of the same elements: shapes, axes, parts, padding."""

import math

import numpy as np

from mxcy.base import MXNetError
from mxcy.onnx.onnx2mx.table import row
from mxcy.onnx.onnx2mx.values import UnknownValueError

__all__ = ["joined", "padded", "sliced"]


@row("Shape")
def shape(F, a, x):
    named, extents = _names(a, 0, x), []
    for n, name in zip(x.shape, named, strict=True):
        if n == -1 and name is None:
            raise UnknownValueError(
                f"the shape {x.shape} has to be known when the model is imported: "
                "give input_shapes",
                x.sources(),
            )
        extents.append(n if n != -1 else F.open.number(name))
    return F.constant(np.array(extents[slice(a.start or 0, a.end)], np.int64))


def _names(a, place, x):
    """What ONNX calls the extents of an input, None where it has no name for one."""
    named = a.extents[place] if place < len(a.extents) else None
    if named is None or len(named) != x.ndim:
        return (None,) * x.ndim
    return tuple(name if isinstance(name, str) else None for name in named)


@row("Size")
def size(F, a, x):
    return F.constant(np.array(math.prod(x.full_shape), np.int64))


# --- extents -------------------------------------------------------------------------------------


@row("Reshape")
def reshape_by_attribute(F, a, x):
    return _reshape(F, x, a.shape, False)


@row("Reshape", since=5)
def reshape(F, a, x, target):
    told = target.extents("the input shape")
    if any(isinstance(n, str) for n in told):
        told = _without_names(told, _names(a, 0, x), target)
        if told.count(0) and not a.allowzero:
            return F("Reshape", x, shape=told)
    return _reshape(F, x, told, bool(a.allowzero))


def _without_names(told, names, target):
    """A target of Reshape with 0 and -1, which copy and follow, in the place of open extents."""
    found = [0 if isinstance(n, str) and n in names[i : i + 1] else n for i, n in enumerate(told)]
    rest = [i for i, n in enumerate(found) if isinstance(n, str)]
    if len(rest) > 1 or rest and -1 in found:
        target.integers("the input shape")  # raises
    return tuple(-1 if i in rest else n for i, n in enumerate(found))


def _reshape(F, x, target, literal):
    if target.count(-1) > 1 or min(target, default=0) < -1:
        raise MXNetError(f"shape: {target} has more than one open extent, or one below -1")
    if not literal:
        if any(n == 0 and i >= x.ndim for i, n in enumerate(target)):
            raise MXNetError(f"shape: {target} copies extents that {x.shape} does not have")
        target = tuple(x.shape[i] if n == 0 else n for i, n in enumerate(target))
        # An extent that is not known is copied, or follows from all others.
        if target.count(-1) > 1:
            keep = [0 if n == -1 and i < x.ndim and x.shape[i] == -1 else n
                    for i, n in enumerate(target)]  # fmt: skip
            return F("Reshape", x, shape=tuple(keep))
    if -1 in target and -1 not in x.shape and 0 in x.shape:
        known = math.prod(n for n in target if n != -1)
        rest = math.prod(x.shape) // known if known else 0
        target = tuple(rest if n == -1 else n for n in target)
    if target == x.shape and -1 not in target:
        return x
    return F("_npi_reshape", x, newshape=target)


@row("Flatten")
def flatten(F, a, x):
    axis = a.axis if a.axis >= 0 else a.axis + x.ndim
    if axis == 1 and x.ndim > 1 and 0 not in x.shape:
        return F("Flatten", x)
    before, after = x.shape[:axis], x.shape[axis:]
    if -1 in before:
        return F("_npi_reshape", x, newshape=(-1, math.prod(x.full_shape[axis:])))
    if -1 in after:
        return F("_npi_reshape", x, newshape=(math.prod(before), -1))
    return F("_npi_reshape", x, newshape=(math.prod(before), math.prod(after)))


@row("Squeeze")
def squeeze(F, a, x, axes=None):
    given = a.axes if axes is None else axes.integers("the input axes")
    if given is None:
        given = [i for i, n in enumerate(x.full_shape) if n == 1]
    given = tuple(sorted(axis % max(x.ndim, 1) for axis in given))
    return F("_npi_squeeze", x, axis=given) if given else x


@row("Unsqueeze")
def unsqueeze(F, a, x, axes=None):
    given = a.axes if axes is None else axes.integers("the input axes")
    for axis in sorted(axis % (x.ndim + len(given)) for axis in given):
        x = F("expand_dims", x, axis=axis)
    return x


@row("Expand", since=8)
def expand(F, a, x, target):
    target, told = target.extents("the input shape"), target
    if any(isinstance(n, str) for n in target):
        names = ((None,) * (len(target) - x.ndim) + _names(a, 0, x))[-len(target) :]
        target = tuple(1 if n in names[i : i + 1] else n for i, n in enumerate(target))
        if any(isinstance(n, str) for n in target):
            if x.array is not None and x.array.size == 1:
                lead = max(x.ndim - len(target), 0)
                number = F.constant(x.array.reshape(()), x.spec.dtype)
                return F.filled((1,) * lead + target, number, told)
            told.integers("the input shape")  # raises
    if -1 in x.shape:
        lead = (1,) * (len(target) - x.ndim)
        extents = (*lead, *x.shape)
        target = (*(1,) * (x.ndim - len(target)), *target)
        if all(n == 1 for n, known in zip(target, extents, strict=True) if known == -1):
            whole = tuple(0 if k == -1 else max(n, k) for n, k in zip(target, extents, strict=True))
            x = F("_npi_reshape", x, newshape=extents) if lead and extents.count(-1) == 1 else x
            if x.ndim == len(whole):
                return F("broadcast_to", x, shape=whole)
    whole = np.broadcast_shapes(x.full_shape, target)
    return x if whole == x.shape else F("_npi_broadcast_to", x, shape=whole)


@row("Transpose")
def transpose(F, a, x):
    axes = a.perm if a.perm else tuple(reversed(range(x.ndim)))
    return F("transpose", x, axes=axes) if axes != tuple(range(x.ndim)) else x


@row("Tile")
def tile_by_number(F, a, x, tiles, axis):
    (axis,), reps = axis.integers("the input axis"), [1] * x.ndim
    (reps[axis],) = tiles.integers("the input tiles")
    return F("_npi_tile", x, reps=tuple(reps))


@row("Tile", since=6)
def tile(F, a, x, repeats):
    return F("_npi_tile", x, reps=repeats.integers("the input repeats"))


# --- parts ---------------------------------------------------------------------------------------


def joined(F, values, axis):
    """Values along an axis; those without elements change nothing but types."""
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
    found, begin = [], 0
    for part in parts:
        found.append(F.part(x, axis, begin, begin + part))
        begin += part
    return tuple(found)


@row("Split")
def split(F, a, x, parts=None):
    count = a.num_outputs or len(a.outputs)
    axis = (a.axis or 0) % x.ndim
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
    """NumPy's slicing, as ONNX's numbers say."""
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
        # Without the extent numbers mean the same only where they count from the same end.
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
    return sliced(
        F,
        x,
        starts.integers("the input starts"),
        ends.integers("the input ends"),
        None if axes is None else axes.integers("the input axes"),
        None if steps is None else steps.integers("the input steps"),
    )


# --- padding -------------------------------------------------------------------------------------


def padded(F, x, before, after, mode="constant", value=0.0):
    """Elements around an array, as NumPy's `pad` makes them; negative numbers take some away."""
    if min((*before, *after), default=0) < 0:
        extents = x.full_shape
        starts = [max(-n, 0) for n in before]
        ends = [extent - max(-n, 0) for extent, n in zip(extents, after, strict=True)]
        x = sliced(F, x, starts, ends)
        before, after = [max(n, 0) for n in before], [max(n, 0) for n in after]
    if not any(before) and not any(after):
        return x
    width = tuple(zip(before, after, strict=True))
    if mode == "wrap":
        return _wrapped(F, x, width)
    if x.kind == "b":
        return padded(F, x.astype("uint8"), before, after, mode, int(value)).astype("bool")
    return F("_npi_pad", x, pad_width=width, mode=mode, constant_values=float(value))


def _wrapped(F, x, width):
    for axis, (before, after) in enumerate(width):
        if before or after:
            places = np.arange(-before, x.full_shape[axis] + after) % x.full_shape[axis]
            x = F("take", x, F.constant(places), axis=axis, mode="clip")
    return x


def _pad(F, a, x, pads, value, axes=None):
    if a.mode not in ("constant", "reflect", "edge", "wrap"):
        raise MXNetError(f"attribute mode: {a.mode!r} is not implemented")
    axes = range(x.ndim) if axes is None else [axis % x.ndim for axis in axes]
    if len(pads) != 2 * len(axes):
        raise MXNetError(f"pads: {tuple(pads)} are not two numbers for each of {len(axes)} axes")
    before, after = [0] * x.ndim, [0] * x.ndim
    for place, axis in enumerate(axes):
        before[axis], after[axis] = pads[place], pads[place + len(axes)]
    return padded(F, x, before, after, a.mode, value)


@row("Pad")
def pad_by_attributes(F, a, x):
    pads = a.pads if a.pads is not None else a.paddings
    return _pad(F, a, x, pads, a.value or 0.0)


@row("Pad", since=11)
def pad(F, a, x, pads, value=None, axes=None):
    if value is not None and value.array is None and a.mode == "constant":
        shown = _pad(F, a, F.constant(np.ones(x.full_shape, bool)),
                     pads.integers("the input pads"), 0,
                     None if axes is None else axes.integers("the input axes"))  # fmt: skip
        around = _pad(F, a, x, pads.integers("the input pads"), 0,
                      None if axes is None else axes.integers("the input axes"))  # fmt: skip
        return F.where(shown, around, value.reshape())
    number = 0 if value is None or not value.array.size else value.array.reshape(-1)[0]
    axes = None if axes is None else axes.integers("the input axes")
    return _pad(F, a, x, pads.integers("the input pads"), number, axes)


@row("CenterCropPad", since=18)
def center_crop_pad(F, a, x, target):
    axes = range(x.ndim) if a.axes is None else [axis % x.ndim for axis in a.axes]
    before, after = [0] * x.ndim, [0] * x.ndim
    for axis, wanted in zip(axes, target.integers("the input shape"), strict=True):
        more = wanted - x.full_shape[axis]
        before[axis] = more // 2 if more > 0 else -(-more // 2)
        after[axis] = more - before[axis]
    return padded(F, x, before, after)


# --- blocks --------------------------------------------------------------------------------------


def _image(x):
    """The extents of images; the batch may be open."""
    if x.ndim != 4:
        raise MXNetError(f"expected images (batch, channels, height, width), got {x.shape}")
    return x.shape if -1 not in x.shape[1:] else x.full_shape


@row("DepthToSpace")
def depth_to_space(F, a, x):
    b, (batch, channels, height, width) = a.blocksize, _image(x)
    if channels % (b * b):
        raise MXNetError(f"{channels} channels cannot be split into blocks of {b} x {b}")
    if a.mode == "CRD":
        parts = x.reshape(batch, channels // (b * b), b, b, height, width)
        parts = parts.transpose(0, 1, 4, 2, 5, 3)
    else:
        parts = x.reshape(batch, b, b, channels // (b * b), height, width)
        parts = parts.transpose(0, 3, 4, 1, 5, 2)
    return parts.reshape(batch, channels // (b * b), height * b, width * b)


@row("SpaceToDepth")
def space_to_depth(F, a, x):
    b, (batch, channels, height, width) = a.blocksize, _image(x)
    if height % b or width % b:
        raise MXNetError(f"{height} x {width} cannot be split into blocks of {b} x {b}")
    parts = x.reshape(batch, channels, height // b, b, width // b, b)
    order = (0, 1, 3, 5, 2, 4) if a.mode == "CRD" else (0, 3, 5, 1, 2, 4)
    return parts.transpose(*order).reshape(batch, channels * b * b, height // b, width // b)
