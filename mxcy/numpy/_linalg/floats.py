"""Conversion of operands to the floating-point and complex dtypes of linear algebra."""

from mxcy._base import dtypes
from mxcy._library import front
from mxcy.numpy._calls import general, symbolic
from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import as_array
from mxcy.ops.core.result_types import promote

__all__ = ["apply", "apply_several", "cast", "in_floats"]

_SINGLE = dtypes.CODES["float32"]
_COMPUTED = {dtypes.CODES[name] for name in ("float32", "float64", "complex64", "complex128")}


def cast(array, code):
    """Cast a result to another floating-point dtype; complex results and their parts are kept.

    A `code` of None keeps the dtype.
    """
    if code is None or array.dtype_code == code:
        return array
    if dtypes.is_complex(array.dtype_code) or dtypes.is_complex(code):
        return array
    return general.cast(array, code)


def in_floats(*operands):
    """Promote operands to a common floating-point or complex dtype; also return the result dtype.

    16-bit types are computed in 32 bits, integers in 64.
    """
    arrays = [as_array(operand) for operand in operands]
    if symbolic.any_symbols(arrays):  # dtypes not yet known
        return arrays, None
    result = promote(front.has_numpy_types(), *(array.dtype_code for array in arrays))
    if not dtypes.is_inexact(result):
        result = dtypes.CODES["float64"]
    computed = result if result in _COMPUTED else _SINGLE
    return [
        array if array.dtype_code == computed else general.cast(array, computed) for array in arrays
    ], result


def apply(name, *operands, **attrs):
    """Call a floating-point operator with one result."""
    arrays, code = in_floats(*operands)
    return cast(operate(name, *arrays, **attrs), code)


def apply_several(kind, name, *operands, **attrs):
    """Call a floating-point operator with several results; return a named tuple."""
    arrays, code = in_floats(*operands)
    return kind(*(cast(part, code) for part in operate(name, *arrays, **attrs)))
