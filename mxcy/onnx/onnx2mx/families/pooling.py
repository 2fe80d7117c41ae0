"""Pooling, by operator Pooling if equivalent, else by functions of shifted slices."""

import math

import numpy as np

from mxcy._base import dtypes
from mxcy.base import MXNetError
from mxcy.onnx.onnx2mx.families.padding import padded
from mxcy.onnx.onnx2mx.families.scatter import scattered
from mxcy.onnx.onnx2mx.families.windows import Windows
from mxcy.onnx.onnx2mx.table import row

__all__ = []


def _counts(windows, extents, ceil):
    """Number of windows along each dimension."""
    counts = []
    for n, before, after, span, stride in zip(
        extents, windows.before, windows.after, windows.spans(), windows.strides, strict=True
    ):
        available = n + before + after - span
        if available < 0 and not ceil:
            raise MXNetError(f"kernel of {span} does not fit {n + before + after} elements")
        count = (-(-available // stride) if ceil else available // stride) + 1
        if ceil and (count - 1) * stride >= n + before:
            count -= 1  # that window would start in the trailing padding
        counts.append(max(count, 0))
    return counts


def _as_pooling(F, a, x, windows, kind, **attrs):
    """Apply Pooling; None if it is not equivalent."""
    if not windows.even or any(d != 1 for d in windows.dilations) or x.kind != "f":
        return None
    if len(windows.kernel) > 3:
        return None
    if a.ceil_mode:
        # Pooling also rounds up, but keeps a window that starts in the trailing padding.
        rounded = [
            -(-(n + 2 * p - k) // s) + 1
            for n, p, k, s in zip(
                x.plane, windows.before, windows.kernel, windows.strides, strict=True
            )
        ]
        if rounded != _counts(windows, x.plane, True):
            return None
        attrs["pooling_convention"] = "full"
    return F(
        "Pooling",
        x,
        kernel=windows.kernel,
        stride=windows.strides,
        pad=windows.before,
        pool_type=kind,
        **attrs,
    )


class _Shifted:
    """Strided slices: the elements under each kernel position, for all windows."""

    def __init__(self, F, x, windows, ceil, filled):
        self.F, self.windows = F, windows
        self.extents = x.plane
        self.counts = _counts(windows, self.extents, ceil)
        reach = [
            (count - 1) * stride + span
            for count, stride, span in zip(
                self.counts, windows.strides, windows.spans(), strict=True
            )
        ]
        after = [
            max(n - m - b, 0) for n, m, b in zip(reach, self.extents, windows.before, strict=True)
        ]
        before = (0, 0, *windows.before)
        self.x = padded(F, x, before, (0, 0, *after), value=filled)

    def places(self):
        """The positions of the kernel."""
        return np.ndindex(*self.windows.kernel)

    def at(self, place, x=None):
        """The elements under a position."""
        begin = [n * d for n, d in zip(place, self.windows.dilations, strict=True)]
        end = [
            b + (count - 1) * s + 1
            for b, count, s in zip(begin, self.counts, self.windows.strides, strict=True)
        ]
        return self.F(
            "slice",
            self.x if x is None else x,
            begin=(None, None, *begin),
            end=(None, None, *end),
            step=(1, 1, *self.windows.strides),
        )


def _lowest(x):
    return -np.inf if x.kind == "f" else np.iinfo(x.dtype).min


def _max_of_slices(F, a, x, windows, indices):
    shifted = _Shifted(F, x, windows, a.ceil_mode, _lowest(x))
    if indices:
        places = np.arange(math.prod(x.full_shape), dtype=np.int64)
        if a.storage_order:
            reversed_planes = (*x.shape[:2], *reversed(x.shape[2:]))
            order = (0, 1, *reversed(range(2, x.ndim)))
            places = places.reshape(reversed_planes).transpose(order)
        numbers = _Shifted(F, F.constant(places.reshape(x.shape)), windows, a.ceil_mode, 0)
    best = best_places = None
    for place in shifted.places():
        part = shifted.at(place)
        if best is None:
            best, best_places = part, numbers.at(place) if indices else None
            continue
        if indices:
            greater = F("_npi_greater", part, best)
            best_places = F.where(greater, numbers.at(place), best_places)
        best = F.binary("maximum", best, part)
    return (best, best_places) if indices else best


@row("MaxPool")
def max_pool(F, a, x):
    windows = Windows(a, x, a.kernel_shape)
    if a.wants(1):
        return _max_of_slices(F, a, x, windows, True)
    kind = dtypes.name_of(x.spec.dtype)
    if kind in ("int8", "uint8") and x.array is None:
        # with identity quantization, which plans remove
        pooled = _as_pooling(F, a, F("_dequantize_linear", x), windows, "max")
        if pooled is not None:
            return F("_quantize_linear", pooled, out_type=kind)
    pooled = _as_pooling(F, a, x, windows, "max")
    return _max_of_slices(F, a, x, windows, False) if pooled is None else pooled


@row("AveragePool")
def average_pool(F, a, x):
    windows = Windows(a, x, a.kernel_shape)
    padding = any(windows.before) or any(windows.after)
    with_padding = bool(a.count_include_pad)
    pooled = _as_pooling(F, a, x, windows, "avg", count_include_pad=with_padding or not padding)
    if pooled is not None:
        return pooled
    shifted = _Shifted(F, x, windows, a.ceil_mode, 0)
    ones = np.ones((1, 1, *shifted.extents), np.float32)
    if with_padding:
        both = list(zip(windows.before, windows.after, strict=True))
        ones = np.pad(ones, [(0, 0), (0, 0), *both], constant_values=1)
        bare = Windows.__new__(Windows)
        bare.__dict__.update(windows.__dict__, before=(0,) * len(both), after=(0,) * len(both))
        counted = _Shifted(F, F.constant(ones), bare, a.ceil_mode, 0)
    else:
        counted = _Shifted(F, F.constant(ones), windows, a.ceil_mode, 0)
    counted.counts = shifted.counts
    missing = [
        max((count - 1) * s + span - n, 0)
        for count, s, span, n in zip(
            shifted.counts, windows.strides, windows.spans(), counted.x.shape[2:], strict=True
        )
    ]
    counted.x = padded(F, counted.x, (0,) * x.ndim, (0, 0, *missing))
    total = number = None
    for place in shifted.places():
        part, count = shifted.at(place), counted.at(place)
        total = part if total is None else total + part
        number = count if number is None else number + count
    return total / number.astype(x.dtype)


@row("LpPool")
def lp_pool(F, a, x):
    windows = Windows(a, x, a.kernel_shape)
    p = float(a.p or 2)
    shifted = _Shifted(F, F.binary("power", F("_npi_absolute", x), p), windows, a.ceil_mode, 0)
    total = None
    for place in shifted.places():
        part = shifted.at(place)
        total = part if total is None else total + part
    return F.binary("power", total, 1 / p)


# --- global pooling------------------------------------------------------------------------------


def _global(onnx_name, kind):
    def function(F, a, x):
        if 3 <= x.ndim <= 5:
            return F("Pooling", x, kernel=(1,) * (x.ndim - 2), global_pool=True, pool_type=kind)
        axes = tuple(range(2, x.ndim))
        return F("_npi_max" if kind == "max" else "_npi_mean", x, axis=axes, keepdims=True)

    row(onnx_name)(function)


_global("GlobalAveragePool", "avg")
_global("GlobalMaxPool", "max")


@row("GlobalLpPool")
def global_lp_pool(F, a, x):
    p = float(a.p or 2)
    powers = F.binary("power", F("_npi_absolute", x), p)
    return F.binary("power", F.sum(powers, tuple(range(2, x.ndim)), True), 1 / p)


@row("MaxUnpool", since=9)
def max_unpool(F, a, x, indices, output_shape=None):
    extents, dims = x.full_shape, x.ndim - 2
    strides, pads = a.strides or (1,) * dims, a.pads or (0,) * 2 * dims
    own = [
        (n - 1) * s + k - pads[i] - pads[i + dims]
        for i, (n, s, k) in enumerate(zip(extents[2:], strides, a.kernel_shape, strict=True))
    ]
    shape = (*extents[:2], *own)
    wanted = shape if output_shape is None else output_shape.integers("the input output_shape")
    places = indices.astype("int64").reshape(1, -1)
    if wanted != shape:
        # Indices refer to the default shape: convert them to the requested one.
        remainder, position = places, None
        for axis in range(len(shape)):
            behind = math.prod(shape[axis + 1 :])
            place = F("_npi_floor_divide", remainder, F.like(behind, remainder))
            remainder = F("_npi_mod", remainder, F.like(behind, remainder))
            own = F.binary("multiply", place, math.prod(wanted[axis + 1 :]))
            position = own if position is None else F.binary("add", position, own)
        places = position
    zeros = F.constant(np.zeros(math.prod(wanted), x.dtype))
    return scattered(F, zeros, places, x.reshape(-1)).reshape(*wanted)
