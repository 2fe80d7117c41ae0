"""Element types: MXNet's codes, NumPy's dtypes, and names."""

from typing import Any

import numpy as np

from mxcy._base.errors import MXNetError

__all__ = [
    "BFLOAT16",
    "STORAGE_TYPES",
    "bfloat16",
    "CODES",
    "DTYPES",
    "HALVES",
    "NAMES",
    "REALS",
    "code_of",
    "complex_of",
    "numpy_dtype",
    "dtype_of",
    "name_of",
    "is_complex",
    "is_float",
    "is_inexact",
    "real_code_of",
    "real_of",
]

# NumPy has no bfloat16; MXNet represents it by a structured dtype with one field.
bfloat16 = np.dtype([("bfloat16", np.uint16)])

#: code in MXNet's files -> (name, NumPy dtype)
_TABLE: dict[int, tuple[str, np.dtype]] = {
    0: ("float32", np.dtype(np.float32)),
    1: ("float64", np.dtype(np.float64)),
    2: ("float16", np.dtype(np.float16)),
    3: ("uint8", np.dtype(np.uint8)),
    4: ("int32", np.dtype(np.int32)),
    5: ("int8", np.dtype(np.int8)),
    6: ("int64", np.dtype(np.int64)),
    7: ("bool", np.dtype(np.bool_)),
    8: ("int16", np.dtype(np.int16)),
    9: ("uint16", np.dtype(np.uint16)),
    10: ("uint32", np.dtype(np.uint32)),
    11: ("uint64", np.dtype(np.uint64)),
    12: ("bfloat16", bfloat16),
    13: ("complex64", np.dtype(np.complex64)),
    14: ("complex128", np.dtype(np.complex128)),
}
DTYPES = {code: dtype for code, (_, dtype) in _TABLE.items()}
NAMES = {code: name for code, (name, _) in _TABLE.items()}
CODES = {name: code for code, name in NAMES.items()}
_BY_DTYPE = {dtype: code for code, dtype in DTYPES.items()}
BFLOAT16 = CODES["bfloat16"]
_FLOATS = frozenset(CODES[name] for name in ("float16", "float32", "float64", "bfloat16"))
#: complex type -> type of its real part; only arrays of `mx.np` are complex
_PARTS = {CODES["complex64"]: CODES["float32"], CODES["complex128"]: CODES["float64"]}
#: names of the types that MXNet has as well
REALS = tuple(name for name, code in CODES.items() if code not in _PARTS)
#: codes of the 16-bit floating types
HALVES = frozenset((CODES["float16"], BFLOAT16))


def numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """The NumPy dtype that an object specifies.

    Parameters
    ----------
    dtype : str, type, numpy.dtype, array
        Anything that `numpy.dtype` accepts, or an array, which specifies its own dtype, as
        ``x.astype(y)`` in programs written for NumPy 1 relies on.

    Raises
    ------
    TypeError
        If `dtype` specifies no type.
    """
    own = getattr(dtype, "dtype", None)
    if isinstance(dtype, str) and dtype == "bfloat16":  # unknown to NumPy
        return bfloat16
    if isinstance(dtype, list | tuple):  # NumPy would make a structured dtype
        raise TypeError(f"{dtype!r} is not a dtype; pass the rows of an array as one nested list")
    return np.dtype(own if isinstance(own, type | np.dtype) else dtype)


def code_of(dtype: Any) -> int:
    """The MXNet code of a dtype specifier.

    Parameters
    ----------
    dtype : str, type, numpy.dtype
        ``'float32'``, ``numpy.float32``, ``'bfloat16'``...

    Raises
    ------
    MXNetError
        If no array of mxcy can have that type.
    """
    if isinstance(dtype, str) and dtype in CODES:
        return CODES[dtype]
    try:
        kind = numpy_dtype(dtype)
    except TypeError:
        code = None
    else:
        code = _BY_DTYPE.get(kind)
        # Once ml_dtypes is imported, the name means that package's type to NumPy.
        if code is None and kind.name == "bfloat16":
            code = BFLOAT16
    if code is None:
        raise MXNetError(f"dtype {dtype!r} is not supported; choose one of {', '.join(CODES)}")
    return code


def real_code_of(dtype: Any) -> int:
    """The MXNet code of a dtype that `mx.nd` supports: any but the complex ones.

    Raises
    ------
    MXNetError
        If arrays of `mx.nd` cannot have that type.
    """
    code = code_of(dtype)
    if code in _PARTS:
        raise MXNetError(f"dtype {NAMES[code]} needs mx.np; choose one of {', '.join(REALS)}")
    return code


def dtype_of(code: int) -> np.dtype[Any]:
    """The NumPy dtype of a code."""
    return DTYPES[code]


def name_of(code: int) -> str:
    """The name of a code, as operators' `dtype` parameters spell it."""
    return NAMES[code]


def type_of(code: int) -> Any:
    """The NumPy scalar type of a code, as ``array.dtype`` returns it; for bfloat16, a dtype."""
    return bfloat16 if DTYPES[code] == bfloat16 else DTYPES[code].type


def is_float(code: int) -> bool:
    """Whether a code is one of the floating types."""
    return code in _FLOATS


def is_complex(code: int) -> bool:
    """Whether a code is one of the complex types."""
    return code in _PARTS


def is_inexact(code: int) -> bool:
    """Whether a code is one of the floating or complex types."""
    return code in _FLOATS or code in _PARTS


def real_of(code: int) -> int:
    """The type of a complex type's real part; any other type unchanged."""
    return _PARTS.get(code, code)


def complex_of(code: int) -> int:
    """The complex type whose parts have a given floating type."""
    return code if code in _PARTS else 14 if code == 1 else 13


#: storage type -> MXNet's code
STORAGE_TYPES = {"undefined": -1, "default": 0, "row_sparse": 1, "csr": 2}
