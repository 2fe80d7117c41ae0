"""Resizing of images whose sizes are known only at run time."""

from fractions import Fraction

import numpy as np

from mxcy.onnx.onnx2mx.values import UnknownValueError

__all__ = ["resized_axis", "scaled"]


def scaled(F, extent, ratio):
    """Multiply an extent by a ratio, rounding down."""
    exact = Fraction(float(ratio)).limit_denominator(1 << 12)
    multiple = F.open.combined("*", extent, exact.numerator)
    return F.open.combined("/", multiple, exact.denominator)


def _number(F, extent):
    """Convert an extent to a float scalar in the graph."""
    if not isinstance(extent, str):
        return F.constant(np.float32(extent))
    attrs = {"shape": (), "int_value": extent, "value_type": 0, "dtype": "float32"}
    return F.shaped("_npi_full", [], attrs, ((), "float32"))


def _places(F, size, extent, ratio, how):
    """Source coordinates of the new elements, a float vector."""
    new = F.shaped("_npi_arange", [], {"start": 0, "stop": size, "dtype": "float32"},
                   ((size,), "float32"))  # fmt: skip
    old, kind = _number(F, extent), how.coordinates
    scale = F.constant(np.float32(ratio)) if ratio else _number(F, size) / old
    if kind in ("half_pixel", "pytorch_half_pixel"):
        return (new + 0.5) / scale - 0.5
    if kind == "asymmetric":
        return new / scale
    if kind == "tf_half_pixel_for_nn":
        return (new + 0.5) / scale
    if kind == "align_corners":
        last = F.binary("maximum", scale * old - 1.0, 1.0)
        return new * ((old - 1.0) / last)
    raise UnknownValueError(
        f"sizes must be known for coordinate_transformation_mode {kind!r}", tuple(F.inputs)
    )


_ROUNDED = {
    "round_prefer_floor": lambda F, p: F("_npi_ceil", p - 0.5),
    "round_prefer_ceil": lambda F, p: F("_npi_floor", p + 0.5),
    "floor": lambda F, p: F("_npi_floor", p),
    "ceil": lambda F, p: F("_npi_ceil", p),
}


def resized_axis(F, x, axis, size, extent, ratio, how):
    """Resize one axis.

    Parameters
    ----------
    x : Value
    axis : int
    size, extent : int or Extent
        New and old extent, at least one of them open.
    ratio : float or None
        Scale given by the node; None to derive it from the sizes.
    how : object
        Attributes of the resize operator.
    """
    if how.antialias or how.exclude_outside or how.mode == "cubic":
        raise UnknownValueError(
            "sizes must be known for antialias, exclude_outside and cubic", tuple(F.inputs)
        )
    places = _places(F, size, extent, ratio, how)
    last = _number(F, extent) - 1.0

    def taken(where):
        inside = F.binary("minimum", F.binary("maximum", where, 0.0), last)
        return F("take", x, inside.astype("int64"), axis=axis, mode="clip")

    if how.mode == "nearest":
        return taken(_ROUNDED[how.nearest](F, places))
    floor = F("_npi_floor", places)
    spread = (-1, *(1,) * (x.ndim - 1 - axis))
    share = (places - floor).reshape(*spread).astype(x.dtype if x.kind == "f" else "float32")
    result = taken(floor) * (1.0 - share) + taken(floor + 1.0) * share
    return result if x.kind == "f" else F("_npi_rint", result).astype(x.dtype)
