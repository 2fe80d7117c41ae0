"""Sliding windows of convolutions and related operators."""

import itertools

from mxcy.ops.core.attrs import Shape, UInt
from mxcy.ops.core.infer import MOST_STEP, most, require

__all__ = ["Filters", "Window", "padded", "reach", "resolve", "windows"]

_LAYOUTS = {1: "NCW", 2: "NCHW", 3: "NCDHW"}


class Window:
    """Attributes of a sliding window."""

    kernel: Shape
    stride: Shape = ()
    dilate: Shape = ()
    pad: Shape = ()


class Filters:
    """Attributes with the number of filters."""

    num_filter: UInt
    num_group: UInt = 1


def resolve(a):
    """Return kernel, stride, dilate and pad of convolution attributes, all of equal length."""
    n = len(a.kernel)
    require(1 <= n <= 3, f"kernel: expected 1 to 3 dimensions, got {a.kernel}")
    resolved = [a.kernel]
    for name, value, default in (
        ("stride", a.stride, 1),
        ("dilate", a.dilate, 1),
        ("pad", a.pad, 0),
    ):
        value = value or (default,) * n
        require(
            len(value) == n, f"{name}: expected {n} values as in kernel {a.kernel}, got {value}"
        )
        require(min(value) >= default, f"{name}: values must be at least {default}, got {value}")
        most(max(value), MOST_STEP, name)
        resolved.append(value)
    require(min(a.kernel) >= 1, f"kernel: values must be positive, got {a.kernel}")
    layout = getattr(a, "layout", None)
    require(
        layout in (None, _LAYOUTS[n]),
        f"layout: {layout} is not supported on CPU, use {_LAYOUTS[n]}",
    )
    return resolved


def reach(kernel, dilate):
    """Return the extents of a dilated kernel."""
    return [(k - 1) * d + 1 for k, d in zip(kernel, dilate, strict=True)]


def windows(kernel, stride, dilate, spatial):
    """Yield each kernel position with the slices of the padded input at the output positions."""
    for position in itertools.product(*map(range, kernel)):
        yield (
            position,
            tuple(
                slice(p * d, p * d + (n - 1) * s + 1, s)
                for p, s, d, n in zip(position, stride, dilate, spatial, strict=True)
            ),
        )


def padded(xp, data, pad):
    """Zero-pad data (batch, channel, spatial...) on all sides."""
    return xp.pad(data, [(0, 0), (0, 0), *((p, p) for p in pad)])
