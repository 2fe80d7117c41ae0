"""Conversion of operands: scalars, lists and NumPy arrays mixed with `mx.np` arrays."""

import numbers
import operator

import numpy as onp

from mxcy._base import dtypes
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.context import current_context
from mxcy.numpy._calls.symbolic import is_symbol
from mxcy.ops.core.result_types import default_complex

__all__ = [
    "array_class",
    "as_array",
    "as_np_array",
    "as_operands",
    "from_onp",
    "is_array",
    "is_complex",
    "is_number_type",
    "numbers_only",
    "offer_class",
    "whole_number",
]

_MOST_EXACT = 1 << 53  # integers up to here are exact doubles
_BOOL = dtypes.CODES["bool"]


def is_array(value):
    """Return whether a value is an `mx.np` or `mx.nd` array."""
    return isinstance(value, front.NDArrayBase)


def is_complex(value):
    """Return whether a value is a complex array; False for symbols."""
    return is_array(value) and dtypes.is_complex(value.dtype_code)


def numbers_only(values):
    """Return whether all values are Python or NumPy scalars."""
    return all(isinstance(value, (numbers.Number, onp.generic)) for value in values)


def is_number_type(kind):
    """Return whether `mx.np` arrays can have a NumPy dtype.

    Parameters
    ----------
    kind : numpy.dtype
    """
    return kind.kind in "biufc" or kind == dtypes.bfloat16


def whole_number(function, argument, value):
    """Convert an argument to int; the TypeError names it and hints at misplaced arrays."""
    try:
        return operator.index(value)
    except TypeError:
        hint = "; arrays are joined in one list" if is_array(value) else ""
        kind = type(value).__name__
        raise TypeError(f"{function}: {argument}: expected an integer, got {kind}{hint}") from None


_classes = []


def offer_class(cls):
    """Register the array class, which is defined in a higher layer."""
    _classes.append(cls)


def array_class():
    """`mx.np.ndarray`."""
    return _classes[0]


def from_onp(values, dtype=None, ctx=None):
    """Create an `mx.np` array from a NumPy array.

    Raises
    ------
    TypeError
        If `mx.np` does not support the dtype.
    """
    dtype = values.dtype if dtype is None else dtype
    try:
        code = dtypes.code_of(dtype)
    except MXNetError:
        raise TypeError(f"mx.np has no arrays of {dtype}") from None
    if not is_number_type(values.dtype):
        raise TypeError(f"mx.np has no arrays of {values.dtype}")
    kind = dtypes.dtype_of(code)
    if values.dtype.kind == "c" and kind.kind != "c":
        raise TypeError(f"cannot cast {values.dtype} to {kind}: take the real part, .real")
    with onp.errstate(all="ignore"):
        values = onp.ascontiguousarray(values, kind).reshape(values.shape)
    return front.from_numpy(values, code, ctx or current_context(), True, array_class())


def as_array(value):
    """Convert an operand to an array.

    Parameters
    ----------
    value : array_like
        Arrays and symbols are returned unchanged. NumPy arrays keep their dtype, Python floats get
        the default one.

    Raises
    ------
    TypeError
        If it is not array-like.
    """
    if isinstance(value, front.NDArrayBase) or is_symbol(value):
        return value
    try:
        values = onp.asarray(value)
    except ValueError as error:
        raise TypeError(f"cannot make an array of {value!r:.80}: {error}") from None
    if not is_number_type(values.dtype):
        raise TypeError(f"expected an array, got {value!r:.80} of type {type(value)}")
    keeps = isinstance(value, (onp.ndarray, onp.generic))
    if values.dtype.kind in "fc" and not keeps and not front.has_numpy_types():
        return from_onp(values, onp.float32 if values.dtype.kind == "f" else onp.complex64)
    return from_onp(values)


def as_np_array(value):
    """Convert an operand to an `mx.np` array; see `as_array`."""
    return as_array(value).as_np_ndarray()


def as_operands(lhs, rhs, bits=False):
    """Convert two operands to the form that an operator takes.

    With `bits` (bitwise operators), True stays a boolean next to booleans, otherwise it is 1.

    Returns
    -------
    (str, tuple)
        ``('number', (array, number))`` if the second is a scalar, ``('first', (array, number))`` if
        the first is, ``('', (lhs, rhs))`` for two arrays.
    """
    for kind, array, other in (("number", lhs, rhs), ("first", rhs, lhs)):
        if is_symbol(array) and isinstance(other, (numbers.Real, onp.generic)):
            number = other.item() if isinstance(other, onp.generic) else other
            return kind, (array, int(number) if isinstance(number, bool) else number)
        if is_array(array) and isinstance(other, (numbers.Complex, onp.generic)):
            number = _weak(array.dtype_code, other, bits)
            if number is not None:
                return kind, (array, number)
            number = _strong(array, other)
            return "", ((array, number) if kind == "number" else (number, array))
    return "", (as_array(lhs), as_array(rhs))


def _weak(code, number, bits):
    """Return a scalar as a Python float or int if that is lossless, else None."""
    if isinstance(number, onp.generic):
        if front.has_numpy_types() or number.dtype.kind not in "biufc":
            return None
        number = number.item()
    if isinstance(number, complex):
        return None
    if isinstance(number, bool):
        strong = code == _BOOL and (bits or front.has_numpy_types())
        return None if strong else int(number)
    if isinstance(number, numbers.Integral):
        if -_MOST_EXACT <= number <= _MOST_EXACT:
            return int(number)
        return float(number) if dtypes.is_inexact(code) else None
    return float(number)


def _strong(array, number):
    """Return a scalar as a 0-d array."""
    if isinstance(number, complex) and not (
        isinstance(number, onp.generic) and front.has_numpy_types()
    ):
        own = array.dtype_code
        inexact = dtypes.is_inexact(own)
        code = dtypes.complex_of(own) if inexact else default_complex(front.has_numpy_types())
        return from_onp(onp.asarray(number), dtypes.dtype_of(code), array.context)
    if isinstance(number, (bool, onp.generic)):
        return from_onp(onp.asarray(number), ctx=array.context)
    kind = dtypes.dtype_of(array.dtype_code)
    if kind == onp.bool_:
        kind = onp.dtype(onp.int64)
    bits = 8 * kind.itemsize
    if front.has_numpy_types() and not onp.iinfo(kind).min <= number <= onp.iinfo(kind).max:
        raise OverflowError(f"Python integer {number} out of bounds for {kind}")
    wrapped = int(number) & ((1 << bits) - 1)
    values = onp.array(wrapped, f"u{kind.itemsize}").view(kind)
    return from_onp(values, ctx=array.context)
