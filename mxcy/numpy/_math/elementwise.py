"""Elementwise functions of `mx.np` made of others."""

import math

import numpy as onp

from mxcy._base import dtypes
from mxcy._library import front
from mxcy.base import integer_types, numeric_types
from mxcy.ndarray.tape import is_taped
from mxcy.numpy._arrays.operators import function
from mxcy.numpy._calls.general import call, cast, operate
from mxcy.numpy._calls.handlers import handles
from mxcy.numpy._calls.operands import as_array, as_np_array, is_array, is_complex
from mxcy.numpy._calls.symbolic import is_symbol
from mxcy.numpy._shape.manipulation import promoted
from mxcy.ops.core.result_types import real_type

__all__ = [
    "angle",
    "clip",
    "conj",
    "conjugate",
    "divmod",
    "exp2",
    "float_power",
    "heaviside",
    "imag",
    "iscomplex",
    "isreal",
    "logaddexp2",
    "modf",
    "real",
    "real_if_close",
    "sinc",
]

_FLOATS = (dtypes.CODES["float32"], dtypes.CODES["float64"])


@handles("nan_to_num")
def _nan_to_num(called, inputs, raw, out, keywords):
    """With ``copy=False`` the array itself takes the result, unless the call is recorded."""
    copy, (x,) = keywords.pop("copy", True), inputs
    if is_symbol(x):
        place = called.record.schema.names.index("copy")
        raw = (*raw[:place], bool(copy), *raw[place + 1 :])
    if not copy and out is None and is_array(x) and not is_taped(x):
        out = x
    return call(called, inputs, raw, out, keywords)


def clip(a, min=None, max=None, out=None, *, a_min=None, a_max=None):
    """The elements limited to an interval.

    Parameters
    ----------
    a : array_like
    min, max : scalar or array_like, optional
        The bounds; None for none.
    out : ndarray, optional
        The array that takes the result.
    a_min, a_max : scalar or array_like, optional
        The bounds by the names that MXNet has.

    Returns
    -------
    ndarray
    """
    numbers = type(min) is float and type(max) is float and min <= max
    if numbers and is_array(a) and a.dtype_code in _FLOATS:
        return operate("clip", a, a_min=min, a_max=max, out=out)
    array = as_array(a)
    low = _bound(array, a_min if min is None else min)
    high = _bound(array, a_max if max is None else max)
    if all(_fits_operator(array, bound) for bound in (low, high)):
        low = -onp.inf if low is None else float(low)
        high = onp.inf if high is None else float(high)
        low = high if high < low else low  # the upper bound wins, as in NumPy
        return operate("clip", array, a_min=low, a_max=high, out=out)
    result = array.as_np_ndarray()
    if low is not None:
        result = function("maximum")(result, low)
    if high is not None:
        result = function("minimum")(result, high)
    return function("positive")(result, out=out) if result is array or out is not None else result


def _bound(array, bound):
    """A bound that integers can reach, in MXNet's policy an integer itself."""
    if is_symbol(array):
        return bound
    kind = dtypes.dtype_of(array.dtype_code)
    whole = isinstance(bound, integer_types)
    if kind.kind not in "iu" or not (whole or isinstance(bound, numeric_types)):
        return bound
    if not whole and (front.has_numpy_types() or bound != bound):
        return bound
    limits = onp.iinfo(kind)
    return limits.min if bound < limits.min else limits.max if bound > limits.max else int(bound)


def _fits_operator(array, bound):
    """Whether the operator `clip`, which takes doubles and keeps types, is right for a bound."""
    kind = None if is_symbol(array) else dtypes.dtype_of(array.dtype_code)
    if kind is None or kind.kind not in "iu":
        return bound is None or (isinstance(bound, numeric_types) and bound == bound)
    return kind.itemsize < 8 and (bound is None or isinstance(bound, integer_types))


def divmod(x1, x2, out=None):
    """Floor of the quotient, and the remainder with the sign of the divisor.

    Parameters
    ----------
    x1, x2 : scalar or array_like
    out : tuple of two ndarrays, optional
        The arrays that take the results.

    Returns
    -------
    (ndarray, ndarray)
    """
    first, second = (None, None) if out is None else out
    return function("floor_divide")(x1, x2, out=first), function("mod")(x1, x2, out=second)


def exp2(x, out=None):
    """2 to the power of each element.

    Parameters
    ----------
    x : array_like
    out : ndarray, optional
        The array that takes the result.

    Returns
    -------
    ndarray
    """
    return function("power")(2.0, as_real(as_array(x)), out=out)


def logaddexp2(x1, x2, out=None):
    """log2(2 ** x1 + 2 ** x2).

    Parameters
    ----------
    x1, x2 : scalar or array_like
    out : ndarray, optional
        The array that takes the result.

    Returns
    -------
    ndarray
    """
    x1, x2 = (x * math.log(2) for x in _as_reals("logaddexp2", x1, x2))
    return function("multiply")(function("logaddexp")(x1, x2), 1 / math.log(2), out=out)


def sinc(x):
    """sin(pi x) / (pi x), which is 1 at 0.

    Parameters
    ----------
    x : array_like

    Returns
    -------
    ndarray
    """
    x = as_real(as_array(x))
    tiny = onp.pi * function("where")(x == 0, 1e-10, x)
    return function("sin")(tiny) / tiny


def modf(x):
    """The fractional and the whole parts, both with the sign of the number.

    Parameters
    ----------
    x : array_like

    Returns
    -------
    (ndarray, ndarray)
    """
    x = as_real(as_np_array(x))
    whole = function("trunc")(x)
    fraction = function("copysign")(x - whole, x)
    return operate("where", function("isinf")(x), operate("_npi_zeros_like", x), fraction), whole


def as_real(x):
    """An array in the element type that real functions of it have."""
    if not is_symbol(x):
        code = real_type(front.has_numpy_types(), x.dtype_code)
        return x if code == x.dtype_code else cast(x, code)
    # a symbol has no type yet: it takes that of such a function
    return x * operate("_npi_ones_like", function("exp")(operate("_npi_zeros_like", x)))


def _as_reals(name, x1, x2):
    """Two operands in the floating type in which real functions of two compute."""
    arrays = [x.as_np_ndarray() for x in promoted((x1, x2))]
    if is_complex(arrays[0]):
        raise TypeError(f"{name}: expected real numbers, got {arrays[0].dtype}")
    # the type of a result without elements tells that of all
    few = [x if onp.isscalar(x) else as_array(x).reshape(-1)[:0] for x in (x1, x2)]
    meeting = function("hypot")(*few) if front.has_numpy_types() else None
    if is_array(meeting):
        return [cast(x, meeting.dtype_code) for x in arrays]
    return [as_real(x) for x in arrays]


def float_power(x1, x2, out=None):
    """Powers, computed in float64, of complex numbers in complex128.

    Parameters
    ----------
    x1, x2 : scalar or array_like
    out : ndarray, optional
        The array that takes the result.

    Returns
    -------
    ndarray
    """
    arrays = [as_array(x) for x in (x1, x2)]
    if any(map(is_complex, arrays)):
        wide = [cast(x, dtypes.CODES["complex128"]) for x in arrays]
    else:
        wide = [operate("Cast", x, dtype="float64") for x in arrays]
    return function("power")(*wide, out=out)


def heaviside(x1, x2, out=None):
    """0 where x1 < 0, x2 where it is 0, else 1; NaN of NaN.

    Parameters
    ----------
    x1, x2 : scalar or array_like
    out : ndarray, optional
        The array that takes the result.

    Returns
    -------
    ndarray
    """
    x1, x2 = _as_reals("heaviside", x1, x2)
    step = function("sign")(x1)
    result = operate("_npi_where", x1 == 0, x2, (step + 1) / 2)
    return result if out is None else function("positive")(result, out=out)


def real(val):
    """The real part of an array; of real numbers the array itself."""
    array = as_np_array(val)
    return operate("_mx_real", array) if is_complex(array) else array


def imag(val):
    """The imaginary part of an array; of real numbers zeros."""
    array = as_np_array(val)
    return operate("_mx_imag" if is_complex(array) else "_npi_zeros_like", array)


def isreal(x):
    """Where imaginary parts are zero."""
    return imag(x) == 0


def iscomplex(x):
    """Where imaginary parts are not zero."""
    return imag(x) != 0


def real_if_close(a, tol=100):
    """The real parts of complex numbers whose imaginary parts are tiny, else the array itself.

    Parameters
    ----------
    a : array_like
    tol : float
        How large they may be, in steps of the element type at 1; up to 1 it is an absolute bound.

    Returns
    -------
    ndarray
    """
    array = as_np_array(a)
    if not is_complex(array):
        return array
    bound = tol * onp.finfo(array.dtype).eps if tol > 1 else tol
    return real(array) if bool((abs(imag(array)) < bound).all()) else array


def conj(x, out=None):
    """The complex conjugate of an array; of real numbers the array itself.

    Parameters
    ----------
    x : array_like
    out : ndarray, optional
        The array that takes the result.

    Returns
    -------
    ndarray
    """
    array = as_np_array(x)
    result = operate("_mx_conj", array) if is_complex(array) else array
    return result if out is None else function("positive")(result, out=out)


def angle(z, deg=False):
    """The angle of complex numbers to the positive real axis, from -pi to pi.

    Parameters
    ----------
    z : array_like
    deg : bool
        Whether in degrees.

    Returns
    -------
    ndarray
    """
    array = as_np_array(z)
    radians = function("arctan2")(imag(array), real(array))
    return function("degrees")(radians) if deg else radians


conjugate = conj
