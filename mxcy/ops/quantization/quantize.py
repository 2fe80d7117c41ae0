"""Quantization and dequantization between floats and 8-bit integers."""

from mxcy._base import dtypes
from mxcy.ops.core.attrs import Double, Enum, FloatOrNone
from mxcy.ops.core.infer import Spec, back_shape, require
from mxcy.ops.core.params import CALIBRATED
from mxcy.ops.core.record import native, op, sample, stop, values
from mxcy.ops.quantization.ranges import (
    EIGHT_BITS,
    F32,
    INT32,
    LARGEST,
    LIMITS,
    UINT8,
    calibrated,
    calibrated_range,
    calibration,
    eight_bits,
    limit_of,
    pair,
    pair_of,
    per_unit,
    range_specs,
    reach,
    reach_of,
    saturated,
    signed_pair,
    symmetric_range,
)

__all__ = []

_FLOAT, _U8 = dtypes.code_of("float32"), dtypes.code_of("uint8")
_LOW, _HIGH = (
    (lambda rng: rng.uniform(-2, -1, 1).astype(F32)),
    (lambda rng: rng.uniform(0.5, 1, 1).astype(F32)),
)


def _extremes(xp, data):
    """Return minimum and maximum ignoring NaN; zeros if empty."""
    numbers = data[data == data]
    if numbers.size == 0:
        return F32(0), F32(0)
    return F32(numbers.min()), F32(numbers.max())


@op(
    "_contrib_quantize",
    aliases=("_npx_contrib_quantize",),
    inputs="data min_range max_range",
    outputs="output min_output max_output",
)
class Quantize:
    """Quantize floats of a known range to 8-bit integers.

    ``int8``: ``data * 127 / R`` rounded half away from zero and saturated to [-127, 127], where R
    is the larger magnitude of the range; the new range is [-R, R]. ``uint8``: ``data * 255 / R``
    rounded half to even, negative values 0, with the range as given.

    Shapes: data any (float32), ranges (1,). Returns the integers, their minimum and their maximum.
    """

    out_type: Enum("int8", "uint8") = "uint8"

    dtypes = ("float32",)
    domain = (-3.0, 3.0)
    samples = (
        sample((3, 4, 5), _LOW, _HIGH, out_type="int8"),
        sample((3, 70), _LOW, _HIGH),
        sample((3, 70), _LOW, _HIGH, out_type="int8"),
        sample((0, 2), _LOW, _HIGH),
    )
    kernels = (native("quantize", mixed=True),)
    infer_back = back_shape
    grad = stop

    def infer(a, data, min_range, max_range):
        data.fill("data", dtype=_FLOAT)
        range_specs(("min_range", min_range), ("max_range", max_range))
        return Spec(data.shape, dtypes.code_of(a.out_type)), *pair()

    def ref(a, xp, data, min_range, max_range):
        data, top = data.astype(F32), reach(xp, min_range, max_range)
        if a.out_type == "uint8":
            numbers = saturated(xp, data * per_unit(LARGEST["uint8"], top), a.out_type)
            return numbers, *pair_of(xp, F32(min_range.item()), F32(max_range.item()))
        size = xp.abs(data) * per_unit(LARGEST["int8"], top) + F32(0.5)
        size = xp.floor(xp.where(size < F32(127), size, F32(127)))
        return xp.where(data < 0, -size, size).astype(a.out_type), *signed_pair(xp, top)


def _type_with_range(a):
    """Return the dtype selected by ``'auto'``."""
    if a.out_type != "auto":
        return a.out_type
    return "uint8" if calibrated(a) and a.min_calib_range >= 0 else "int8"


def _range_of_numbers(a, ranges, ins, outs):
    as_given = outs[0].dtype in (UINT8, ins[0].dtype)
    return (calibrated_range if as_given else symmetric_range)(a, ranges, ins, outs)


@op(
    "_contrib_quantize_v2",
    out_range=_range_of_numbers,
    aliases=("_npx_contrib_quantize_v2",),
    inputs="data",
    outputs="output min_output max_output",
)
class QuantizeV2:
    """Quantize floats to 8-bit integers.

    The range is [`min_calib_range`, `max_calib_range`], or that of the data unless both are given;
    R is its larger magnitude. ``int8``: ``data * 127.5 / R``, with range [-R, R]; ``uint8``:
    ``data * 255.5 / R``, with that range; rounded half to even and saturated. ``auto`` is uint8 if
    a non-negative range is given, else int8. 8-bit data is unchanged, and its range is the given
    one or that of its dtype.

    Shapes: data any. Returns the integers, their minimum and their maximum (1,).
    """

    out_type: Enum("auto", "int8", "uint8") = "int8"
    min_calib_range: FloatOrNone = None
    max_calib_range: FloatOrNone = None

    dtypes = ("float32",)
    domain = (-3.0, 3.0)

    def samples():
        for out_type in ("int8", "uint8", "auto"):
            yield sample((3, 4, 5), out_type=out_type)
            yield sample((3, 70), out_type=out_type, min_calib_range=-1, max_calib_range=2)
            yield sample((70,), out_type=out_type, min_calib_range=0, max_calib_range=1.5)
        yield sample((0, 3))
        yield sample(lambda rng: rng.uniform(size=(2, 3)).astype(F32) * 0)
        for kind in ("int8", "uint8"):
            yield sample(values(0, 127, (2, 35), kind))
        yield sample(values(0, 127, (2, 3), "uint8"), min_calib_range=0, max_calib_range=1)

    kernels = (
        native(
            "quantize_v2",
            struct=CALIBRATED,
            params=calibration,
            when=lambda a, ins, outs: "there is nothing to do" if ins[0].dtype != _FLOAT else None,
            mixed=True,
        ),
    )
    infer_back = back_shape
    grad = stop

    def infer(a, data):
        if data.dtype not in EIGHT_BITS and data.dtype is not None:
            data.fill("data", dtype=_FLOAT)
        kind = dtypes.code_of(_type_with_range(a)) if data.dtype == _FLOAT else data.dtype
        return Spec(data.shape, kind), *pair()

    def ref(a, xp, data):
        kind = _type_with_range(a)
        limits = (F32(a.min_calib_range), F32(a.max_calib_range)) if calibrated(a) else None
        if data.dtype.itemsize == 1:
            top = F32(limit_of(data.dtype))
            low = -top if data.dtype.name == "int8" else F32(0)
            return data, *pair_of(xp, *(limits or (low, top)))
        data = data.astype(F32)
        low, high = limits or _extremes(xp, data)
        top = F32(max(abs(low), abs(high)))
        numbers = saturated(xp, data * per_unit(LIMITS[kind], top), kind)
        return numbers, *(pair_of(xp, low, high) if kind == "uint8" else signed_pair(xp, top))


@op("_quantize_last", inputs="data")
class QuantizeLast:
    """Quantize a float image to 8 bits, channels last: ``data * limit / reach``.

    `limit` is 127.5 for int8 and 255.5 for uint8; rounding as in `_contrib_quantize_v2`. Shapes:
    data (batch, channel, spatial...), out (batch, spatial..., channel).
    """

    out_type: Enum("int8", "uint8") = "int8"
    reach: Double = 1.0

    dtypes = ("float32",)
    domain = (-3.0, 3.0)
    grad = stop

    def samples():
        for kind in ("int8", "uint8"):
            yield sample((2, 3, 9, 11), out_type=kind, reach=2)
            yield sample((1, 70, 7, 5), out_type=kind, reach=1.5)
        yield sample((2, 3, 70), reach=0)
        yield sample((0, 3, 4))

    kernels = (
        native(
            "quantize_last",
            struct=CALIBRATED,
            params=lambda a, ins, outs: {"given": True, "low": -a.reach, "high": a.reach},
            mixed=True,
        ),
    )

    def infer(a, data):
        data.fill("data", dtype=_FLOAT)
        shape = data.shape
        require(shape is None or len(shape) > 2, f"data: expected an image, got shape {shape}")
        return Spec(shape and (shape[0], *shape[2:], shape[1]), dtypes.code_of(a.out_type))

    def ref(a, xp, data):
        scaled = data.astype(F32) * per_unit(LIMITS[a.out_type], F32(a.reach))
        return xp.moveaxis(saturated(xp, scaled, a.out_type), 1, -1)


@op("_contrib_dequantize", inputs="data min_range max_range")
class Dequantize:
    """Dequantize 8-bit integers to floats: ``data * (R / 127.5)``, or 255.5 for uint8.

    R is the larger magnitude of `min_range` and `max_range`, which have shape (1,).
    """

    out_type: Enum("float32") = "float32"

    dtypes = ("float32",)
    samples = (
        sample(values(-128, 128, (3, 70), "int8"), _LOW, _HIGH),
        sample(values(0, 256, (2, 3, 5), "uint8"), _LOW, _HIGH),
    )
    kernels = (native("dequantize", mixed=True),)
    infer_back = back_shape
    grad = stop

    def infer(a, data, min_range, max_range):
        eight_bits("data", data)
        range_specs(("min_range", min_range), ("max_range", max_range))
        return Spec(data.shape, _FLOAT)

    def ref(a, xp, data, min_range, max_range):
        step = reach(xp, min_range, max_range) / F32(limit_of(data.dtype))
        return data.astype(F32) * step


@op(
    "_contrib_requantize",
    out_range=symmetric_range,
    aliases=("_npx_requantize",),
    inputs="data min_range max_range",
    outputs="output min_output max_output",
)
class Requantize:
    """Requantize 32-bit integers, such as sums of quantized products, to 8 bits.

    Integers represent ``data * R / (2**31 - 1)`` with R the larger magnitude of the range. The new
    reach is that of [`min_calib_range`, `max_calib_range`], or of the data unless both are given;
    it maps to 127 (``int8``) or 255 (``uint8``, negative values 0). ``auto`` is uint8 if a
    non-negative range is given. Rounded half to even.

    Shapes: data any (int32), ranges (1,). Returns the integers, their minimum and their maximum.
    """

    out_type: Enum("auto", "int8", "uint8") = "int8"
    min_calib_range: FloatOrNone = None
    max_calib_range: FloatOrNone = None

    dtypes = ("float32",)

    def samples():
        for out_type in ("int8", "uint8", "auto"):
            data = values(-(2**20), 2**20, (3, 70), "int32")
            yield sample(data, _LOW, _HIGH, out_type=out_type)
            limits = {"min_calib_range": -0.0005, "max_calib_range": 0.0007}
            yield sample(data, _LOW, _HIGH, out_type=out_type, **limits)
            limits = {"min_calib_range": 0, "max_calib_range": 0.0007}
            yield sample(data, _LOW, _HIGH, out_type=out_type, **limits)
        yield sample(values(0, 1, (0, 3), "int32"), _LOW, _HIGH)

    kernels = (native("requantize", struct=CALIBRATED, params=calibration, mixed=True),)
    infer_back = back_shape
    grad = stop

    def infer(a, data, min_range, max_range):
        data.fill("data", dtype=INT32)
        range_specs(("min_range", min_range), ("max_range", max_range))
        return Spec(data.shape, dtypes.code_of(_type_with_range(a))), *pair()

    def ref(a, xp, data, min_range, max_range):
        kind, data = _type_with_range(a), data.astype(F32)
        step = reach(xp, min_range, max_range) / F32(LIMITS["int32"])
        if calibrated(a):
            top = reach_of(a)
        else:
            low, high = _extremes(xp, data)
            top = F32(max(abs(low), abs(high))) * step
        numbers = saturated(xp, data * (step * per_unit(LARGEST[kind], top)), kind)
        low = F32(0) if kind == "uint8" else -top
        return numbers, *pair_of(xp, low, top)


@op("_contrib_quantize_asym", inputs="data", outputs="output scale shift")
class QuantizeAsym:
    """Quantize floats to uint8 asymmetrically: ``data * scale + shift``.

    ``scale = 255 / (maximum - minimum)`` and ``shift = 255 - maximum * scale``, for the given range
    or that of the data; an empty range has scale 1. Halves are rounded up. Returns the integers,
    and scale and shift (1,).
    """

    min_calib_range: FloatOrNone = None
    max_calib_range: FloatOrNone = None

    dtypes = ("float32",)
    domain = (-3.0, 3.0)
    samples = (
        sample((3, 4, 5)),
        sample((2, 70), min_calib_range=-1, max_calib_range=2),
        sample(lambda rng: rng.uniform(size=(2, 3)).astype(F32) * 0 + 3),
        sample((0, 2)),
    )
    infer_back = back_shape
    grad = stop

    def infer(a, data):
        data.fill("data", dtype=_FLOAT)
        if calibrated(a):
            low, high = a.min_calib_range, a.max_calib_range
            require(low <= high, f"min_calib_range: {low} is above max_calib_range {high}")
        return Spec(data.shape, _U8), *pair()

    def ref(a, xp, data):
        data = data.astype(F32)
        limits = (F32(a.min_calib_range), F32(a.max_calib_range)) if calibrated(a) else None
        low, high = limits or _extremes(xp, data)
        scale = F32(255) / (high - low) if high > low else F32(1)
        shift = F32(255) - high * scale
        numbers = xp.floor(data * scale + shift + F32(0.5))
        numbers = xp.where(numbers < F32(255), numbers, F32(255))
        return xp.maximum(numbers, F32(0)).astype("uint8"), *pair_of(xp, scale, shift)
