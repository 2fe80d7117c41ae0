"""Ranges of 8-bit arrays: common parts of the quantized operators.

An int8 or uint8 array has two single-element float32 arrays, its minimum and its maximum; their
larger magnitude is its reach R. An integer q represents ``q * R / limit``. All computation is in
float32, rounded in the order written here, so that kernels can match it bit by bit.
"""

import numpy as np

from mxcy._base import dtypes
from mxcy.ops.core.attrs import FloatOrNone
from mxcy.ops.core.infer import Spec, require

__all__ = [
    "CALIBRATED",
    "EIGHT_BITS",
    "F32",
    "INT8",
    "INT32",
    "LARGEST",
    "LIMITS",
    "UINT8",
    "calibrated",
    "calibration",
    "calibrated_range",
    "codes_of",
    "eight_bits",
    "kept_range",
    "limit_of",
    "pair",
    "pair_of",
    "per_unit",
    "range_specs",
    "reach",
    "reach_of",
    "saturated",
    "signed_pair",
    "symmetric_range",
]

F32 = np.float32
INT8, UINT8, INT32 = (dtypes.code_of(name) for name in ("int8", "uint8", "int32"))
EIGHT_BITS = (INT8, UINT8)
#: dtype -> the limit that the reach maps to: half a step beyond the largest value
LIMITS = {"int8": 127.5, "uint8": 255.5, "int32": 2147483647.0}
#: dtype -> the largest value, used by the ranges of products and requantize
LARGEST = {"int8": 127.0, "uint8": 255.0}
_BOUNDS = {"int8": (-128.0, 127.0), "uint8": (0.0, 255.0)}
#: attributes of operators with an optional calibrated output range
CALIBRATED = {"min_calib_range": FloatOrNone, "max_calib_range": FloatOrNone}
_FLOAT = dtypes.code_of("float32")


def codes_of(names):
    """Return the codes of dtypes given by name."""
    return tuple(dtypes.code_of(name) for name in names)


def kept_range(a, ranges, ins, outs):
    """Return the data's range, as an `out_range`."""
    return ranges[0]


def calibrated_range(a, ranges, ins, outs):
    """Return the calibrated range, as an `out_range`."""
    return (a.min_calib_range, a.max_calib_range) if calibrated(a) else None


def symmetric_range(a, ranges, ins, outs):
    """Return the calibrated range, symmetric for int8, as an `out_range`."""
    if not calibrated(a):
        return None
    top = max(abs(a.min_calib_range), abs(a.max_calib_range))
    return (0.0, top) if outs[0].dtype == UINT8 else (-top, top)


def calibrated(a):
    """Return whether attributes give the range of the result."""
    return a.min_calib_range is not None and a.max_calib_range is not None


def limit_of(dtype):
    """Return the limit that the reach maps to, for a NumPy dtype."""
    return LIMITS[np.dtype(dtype).name]


def calibration(a, ins, outs):
    """Return the parameters of kernels with an optional calibrated range."""
    known = calibrated(a)
    low, high = (a.min_calib_range, a.max_calib_range) if known else (0, 0)
    return {"given": known, "low": low, "high": high}


# --- inference -----------------------------------------------------------------------------------


def range_specs(*pairs):
    """Infer the Specs of minima and maxima: single-element float32 arrays."""
    for name, spec in pairs:
        spec.fill(name, None if spec.shape == () else (1,), _FLOAT)


def pair():
    """Return the Specs of a result's minimum and maximum."""
    return Spec((1,), _FLOAT), Spec((1,), _FLOAT)


def eight_bits(name, spec, allowed=EIGHT_BITS):
    """Raise for data of other than 8 bits."""
    if spec.dtype is None:
        return
    names = " or ".join(dtypes.name_of(code) for code in allowed)
    kind = dtypes.name_of(spec.dtype)
    require(spec.dtype in allowed, f"{name}: expected {names}, got {kind}")


# --- computation ---------------------------------------------------------------------------------


def reach(xp, low, high):
    """Return the larger magnitude of a minimum and a maximum, as a float32 scalar."""
    low, high = (xp.asarray(x, F32).reshape(-1)[0] for x in (low, high))
    return F32(max(abs(low), abs(high)))


def reach_of(a):
    """Return the calibrated reach."""
    return F32(max(abs(F32(a.min_calib_range)), abs(F32(a.max_calib_range))))


def per_unit(number, reach):
    """Return ``number / reach`` in float32; 0 if the reach is 0."""
    return F32(number) / F32(reach) if reach > 0 else F32(0)


def saturated(xp, values, dtype):
    """Round float32 values half to even and saturate to an 8-bit dtype; NaN: its maximum."""
    low, high = _BOUNDS[np.dtype(dtype).name]
    values = xp.where(values < F32(high), values, F32(high))
    return xp.rint(xp.maximum(values, F32(low))).astype(dtype)


def _one(xp, value):
    return xp.asarray([value], F32)


def pair_of(xp, low, high):
    """Return a minimum and a maximum as arrays."""
    return _one(xp, low), _one(xp, high)


def signed_pair(xp, reach):
    """Return the symmetric range of a reach."""
    return _one(xp, -reach), _one(xp, reach)
