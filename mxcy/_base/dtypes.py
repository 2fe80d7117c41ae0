"""Element types: MXNet's codes, NumPy's dtypes and names, once."""

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

# NumPy has no bfloat16; MXNet names it by a one-field record over the bits.
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
#: complex type -> the type of its parts; arrays of `mx.np` alone have such types
_PARTS = {CODES["complex64"]: CODES["float32"], CODES["complex128"]: CODES["float64"]}
#: the names of the types that MXNet itself has
REALS = tuple(name for name, code in CODES.items() if code not in _PARTS)
#: the codes of floating point numbers of 16 bits
HALVES = frozenset((CODES["float16"], BFLOAT16))


def numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """The NumPy dtype of anything that names an element type.

    Parameters
    ----------
    dtype : str, type, numpy.dtype, array
        What `numpy.dtype` takes; an array stands for its own element type, as ``x.astype(y)`` of
        programs written for NumPy 1 has it.

    Raises
    ------
    TypeError
        When `dtype` names no type.
    """
    own = getattr(dtype, "dtype", None)
    if isinstance(dtype, str) and dtype == "bfloat16":  # which NumPy does not know by name
        return bfloat16
    if isinstance(dtype, list | tuple):  # NumPy would read fields of a structure
        raise TypeError(f"{dtype!r} is no element type; rows of an array are lists in one list")
    return np.dtype(own if isinstance(own, type | np.dtype) else dtype)


def code_of(dtype: Any) -> int:
    """The code of anything that names an element type.

    Parameters
    ----------
    dtype : str, type, numpy.dtype
        ``'float32'``, ``numpy.float32``, ``'bfloat16'``...

    Raises
    ------
    MXNetError
        When mxcy's arrays cannot hold that type.
    """
    if isinstance(dtype, str) and dtype in CODES:
        return CODES[dtype]
    try:
        kind = numpy_dtype(dtype)
    except TypeError:
        code = None
    else:
        code = _BY_DTYPE.get(kind)
        # Once ml_dtypes is imported, NumPy knows the name, and means that package's type.
        if code is None and kind.name == "bfloat16":
            code = BFLOAT16
    if code is None:
        raise MXNetError(f"dtype {dtype!r} is not supported, choose one of {', '.join(CODES)}")
    return code


def real_code_of(dtype: Any) -> int:
    """The code of an element type of `mx.nd`, which has no complex numbers.

    Raises
    ------
    MXNetError
        When classic arrays cannot hold that type.
    """
    code = code_of(dtype)
    if code in _PARTS:
        raise MXNetError(f"dtype {NAMES[code]} is mx.np's, choose one of {', '.join(REALS)}")
    return code


def dtype_of(code: int) -> np.dtype[Any]:
    """The NumPy dtype of a code."""
    return DTYPES[code]


def name_of(code: int) -> str:
    """The name of a code, as operators' `dtype` parameters spell it."""
    return NAMES[code]


def type_of(code: int) -> Any:
    """NumPy's scalar type of a code, for which arrays give themselves out; bfloat16 has a dtype."""
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
    """The type of a complex type's parts; of another type itself."""
    return _PARTS.get(code, code)


def complex_of(code: int) -> int:
    """The complex type whose parts hold numbers of a floating type."""
    return code if code in _PARTS else 14 if code == 1 else 13


#: how arrays may be stored -> MXNet's code
STORAGE_TYPES = {"undefined": -1, "default": 0, "row_sparse": 1, "csr": 2}
