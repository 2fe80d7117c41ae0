"""Numbers of 8 bits and their ranges: what the quantized operators have in common.

An array of int8 or uint8 comes with two float32 arrays of one element, its minimum and its maximum;
their larger magnitude is its reach R. A number q stands for ``q * R / limit``. All is computed in
float32, one rounding after the other as written here, so that kernels can give the same bits.
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
#: element type -> what an array's reach stands for: half a step beyond the largest number
LIMITS = {"int8": 127.5, "uint8": 255.5, "int32": 2147483647.0}
#: element type -> the largest number, which the ranges of products and requantize count with
LARGEST = {"int8": 127.0, "uint8": 255.0}
_BOUNDS = {"int8": (-128.0, 127.0), "uint8": (0.0, 255.0)}
#: the attributes of operators that may know the range of their result
CALIBRATED = {"min_calib_range": FloatOrNone, "max_calib_range": FloatOrNone}
_FLOAT = dtypes.code_of("float32")


def codes_of(names):
    """The codes of element types by name."""
    return tuple(dtypes.code_of(name) for name in names)


def kept_range(a, ranges, ins, outs):
    """An `out_range`: that of the data."""
    return ranges[0]


def calibrated_range(a, ranges, ins, outs):
    """An `out_range`: the one that attributes tell, as it is."""
    return (a.min_calib_range, a.max_calib_range) if calibrated(a) else None


def symmetric_range(a, ranges, ins, outs):
    """An `out_range`: the reach of what attributes tell, on both sides of zero for int8."""
    if not calibrated(a):
        return None
    top = max(abs(a.min_calib_range), abs(a.max_calib_range))
    return (0.0, top) if outs[0].dtype == UINT8 else (-top, top)


def calibrated(a):
    """Whether attributes tell the range of the result."""
    return a.min_calib_range is not None and a.max_calib_range is not None


def limit_of(dtype):
    """What the reach of arrays of a NumPy type stands for."""
    return LIMITS[np.dtype(dtype).name]


def calibration(a, ins, outs):
    """The parameters of kernels that may know the range of their result."""
    known = calibrated(a)
    low, high = (a.min_calib_range, a.max_calib_range) if known else (0, 0)
    return {"given": known, "low": low, "high": high}


# --- inference -----------------------------------------------------------------------------------


def range_specs(*pairs):
    """Tell the Specs of minima and maxima, which are arrays of one float32 each."""
    for name, spec in pairs:
        spec.fill(name, None if spec.shape == () else (1,), _FLOAT)


def pair():
    """The Specs of a result's minimum and maximum."""
    return Spec((1,), _FLOAT), Spec((1,), _FLOAT)


def eight_bits(name, spec, allowed=EIGHT_BITS):
    """Refuse data that have not 8 bits."""
    if spec.dtype is None:
        return
    names = " or ".join(dtypes.name_of(code) for code in allowed)
    kind = dtypes.name_of(spec.dtype)
    require(spec.dtype in allowed, f"{name}: expected {names}, got {kind}")


# --- computation ---------------------------------------------------------------------------------


def reach(xp, low, high):
    """The larger magnitude of a minimum and a maximum, as a float32 without axes."""
    low, high = (xp.asarray(x, F32).reshape(-1)[0] for x in (low, high))
    return F32(max(abs(low), abs(high)))


def reach_of(a):
    """The reach that attributes tell."""
    return F32(max(abs(F32(a.min_calib_range)), abs(F32(a.max_calib_range))))


def per_unit(number, reach):
    """``number / reach`` in float32; of a reach of 0 all numbers are 0."""
    return F32(number) / F32(reach) if reach > 0 else F32(0)


def saturated(xp, values, dtype):
    """float32 values rounded half to even and cut to what an 8-bit type holds; NaN: its last."""
    low, high = _BOUNDS[np.dtype(dtype).name]
    values = xp.where(values < F32(high), values, F32(high))
    return xp.rint(xp.maximum(values, F32(low))).astype(dtype)


def _one(xp, value):
    return xp.asarray([value], F32)


def pair_of(xp, low, high):
    """A minimum and a maximum as arrays."""
    return _one(xp, low), _one(xp, high)


def signed_pair(xp, reach):
    """The range of numbers of both signs."""
    return _one(xp, -reach), _one(xp, reach)
