"""Dtypes and constants of `mx.np`."""

from builtins import bool as bool_class
from typing import NamedTuple

import numpy as onp

from mxcy._base import dtypes

__all__ = [
    "NAN",
    "NINF",
    "NZERO",
    "NaN",
    "PINF",
    "PZERO",
    "_NP_TYPES",
    "bfloat16",
    "bool",
    "bool_",
    "boolean_dtypes",
    "byte",
    "cdouble",
    "complex128",
    "complex64",
    "complexfloating",
    "csingle",
    "double",
    "dtype",
    "e",
    "errstate",
    "euler_gamma",
    "finfo",
    "float16",
    "float32",
    "float64",
    "floating",
    "floating_dtypes",
    "generic",
    "geterr",
    "half",
    "iinfo",
    "inexact",
    "inf",
    "int16",
    "int32",
    "int64",
    "int8",
    "int_",
    "intc",
    "integer",
    "integer_dtypes",
    "intp",
    "issubdtype",
    "long",
    "longlong",
    "nan",
    "newaxis",
    "number",
    "numeric_dtypes",
    "pi",
    "set_printoptions",
    "seterr",
    "short",
    "signedinteger",
    "single",
    "ubyte",
    "uint",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "uintc",
    "uintp",
    "ulong",
    "ulonglong",
    "unsignedinteger",
    "ushort",
]

float16, float32, float64 = (onp.dtype(f"float{bits}") for bits in (16, 32, 64))
int8, int16, int32, int64 = (onp.dtype(f"int{bits}") for bits in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (onp.dtype(f"uint{bits}") for bits in (8, 16, 32, 64))
complex64, complex128 = (onp.dtype(f"complex{bits}") for bits in (64, 128))
bool_ = bool = onp.dtype(onp.bool_)
bfloat16 = dtypes.bfloat16
boolean_dtypes = [bool_]
floating_dtypes = [float16, float32, float64]
integer_dtypes = [int8, int16, int32, int64, uint8, uint16, uint32, uint64]
numeric_dtypes = [*integer_dtypes, *floating_dtypes]
_NP_TYPES = tuple(onp.dtype(kind) for kind in dtypes.DTYPES.values())

dtype = onp.dtype
pi, e, euler_gamma, inf, nan, newaxis = (onp.pi, onp.e, onp.euler_gamma, onp.inf, onp.nan, None)
PINF, NINF, NAN, NaN, PZERO, NZERO = inf, -inf, nan, nan, 0.0, -0.0

set_printoptions = onp.set_printoptions
# mxcy's operators report no floating-point errors; functions computed by NumPy may.
errstate, geterr, seterr = onp.errstate, onp.geterr, onp.seterr

generic, number, inexact = onp.generic, onp.number, onp.inexact
integer, signedinteger, unsignedinteger = onp.integer, onp.signedinteger, onp.unsignedinteger
floating, complexfloating = onp.floating, onp.complexfloating
issubdtype = onp.issubdtype

half, single, double = float16, float32, float64
csingle, cdouble = complex64, complex128
byte, short, intc, longlong = (onp.dtype(code) for code in "bhiq")
ubyte, ushort, uintc, ulonglong = (onp.dtype(code) for code in "BHIQ")
int_, intp, long = onp.dtype(onp.int_), onp.dtype(onp.intp), onp.dtype("l")
uint, uintp, ulong = onp.dtype(onp.uint), onp.dtype(onp.uintp), onp.dtype("L")

_DTYPES = {
    name: value
    for name, value in list(globals().items())
    if isinstance(value, onp.dtype) and name != "bfloat16"
}


def named(mxnet_2):
    """Return the objects behind the dtype names of `mx.np`.

    Parameters
    ----------
    mxnet_2 : bool
        MXNet 2 has dtypes there, MXNet 1.x NumPy's scalar classes.

    Returns
    -------
    dict of str to dtype or type
    """
    if mxnet_2:
        return dict(_DTYPES)
    return {name: bool_class if name == "bool" else d.type for name, d in _DTYPES.items()}


class finfo_obj(NamedTuple):  # noqa: N801  its public name
    """Limits of a floating-point dtype as Python scalars: those that MXNet reports."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float


class iinfo_obj(NamedTuple):  # noqa: N801  its public name
    """Limits of an integer dtype as Python scalars: those that MXNet reports."""

    bits: int
    max: int
    min: int


class _Limits:
    """Limits of a dtype, compared by dtype; other attributes are NumPy's."""

    def __new__(cls, dtype):
        limits = cls._source(dtypes.numpy_dtype(dtype))
        values = (getattr(limits, name) for name in cls._fields)
        numbers = (v.item() if isinstance(v, onp.generic) else v for v in values)
        self = super().__new__(cls, *numbers)
        self._limits = limits
        return self

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        value = getattr(self._limits, name)
        return value.item() if isinstance(value, onp.floating) else value

    def __eq__(self, other):
        return type(other) is type(self) and self.dtype == other.dtype

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(self.dtype)

    def __reduce__(self):
        return type(self), (self.dtype,)

    def __repr__(self):
        fields = (name for name in ("min", "max", "eps", "dtype") if hasattr(self, name))
        limits = ", ".join(f"{name}={getattr(self, name)}" for name in fields)
        return f"{type(self).__name__}({limits})"


class iinfo(_Limits, iinfo_obj):  # noqa: N801  its public name
    """Limits of an integer dtype.

    Attributes other than `bits`, `dtype`, `max` and `min` are those of `numpy.iinfo`.

    Parameters
    ----------
    dtype : dtype or ndarray
    """

    _source = onp.iinfo


class finfo(_Limits, finfo_obj):  # noqa: N801  its public name
    """Limits of a floating-point dtype, as Python scalars.

    Attributes other than `bits`, `dtype`, `eps`, `max`, `min` and `smallest_normal` are those of
    `numpy.finfo`.

    Parameters
    ----------
    dtype : dtype or ndarray
    """

    _source = onp.finfo
