"""Padding."""

import numpy as np

from mxcy._base import dtypes
from mxcy.base import MXNetError
from mxcy.onnx.onnx2mx.families.parts import sliced
from mxcy.onnx.onnx2mx.table import row
from mxcy.onnx.onnx2mx.values import UnknownValueError

__all__ = ["padded"]


def padded(F, x, before, after, mode="constant", value=0.0):
    """Pad an array like NumPy's `pad`; negative numbers crop."""
    if any(isinstance(n, str) for n in (*before, *after)):
        return _padded_by_names(F, x, before, after, mode, value)
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


def _padded_by_names(F, x, before, after, mode, value):
    if mode == "wrap" or x.kind == "b":
        raise UnknownValueError("its pads must be known: give input_shapes", tuple(F.inputs))
    named = F.extents(x)
    shape = tuple(
        F.open.combined("+", F.open.combined("+", n, b), e)
        for n, b, e in zip(named, before, after, strict=True)
    )
    width = tuple(zip(before, after, strict=True))
    attrs = {"pad_width": width, "mode": mode, "constant_values": float(value)}
    return F.shaped("_npi_pad", [x], attrs, (shape, dtypes.name_of(x.spec.dtype)))


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
    axes = None if axes is None else axes.integers("the input axes")
    width = pads.integers_or_names("the input pads")
    if value is not None and value.array is None and a.mode == "constant":
        shown = _pad(F, a, F("ones_like", x).astype("bool"), width, 0, axes)
        return F.where(shown, _pad(F, a, x, width, 0, axes), value.reshape())
    number = 0 if value is None or not value.array.size else value.array.reshape(-1)[0]
    return _pad(F, a, x, width, number, axes)


@row("CenterCropPad", since=18)
def center_crop_pad(F, a, x, target):
    axes = range(x.ndim) if a.axes is None else [axis % x.ndim for axis in a.axes]
    before, after = [0] * x.ndim, [0] * x.ndim
    for axis, wanted in zip(axes, target.integers("the input shape"), strict=True):
        more = wanted - x.full_shape[axis]
        before[axis] = more // 2 if more > 0 else -(-more // 2)
        after[axis] = more - before[axis]
    return padded(F, x, before, after)
