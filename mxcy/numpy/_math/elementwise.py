"""Elementwise `mx.np` functions composed of others."""

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
    """Handle ``copy=False``: write the result to the input unless recording."""
    copy, (x,) = keywords.pop("copy", True), inputs
    if is_symbol(x):
        place = called.record.schema.names.index("copy")
        raw = (*raw[:place], bool(copy), *raw[place + 1 :])
    if not copy and out is None and is_array(x) and not is_taped(x):
        out = x
    return call(called, inputs, raw, out, keywords)


def clip(a, min=None, max=None, out=None, *, a_min=None, a_max=None):
    """Clip (limit) elements to an interval.

    Parameters
    ----------
    a : array_like
    min, max : scalar or array_like, optional
        Bounds; None for no bound.
    out : ndarray, optional
        Array to write the result to.
    a_min, a_max : scalar or array_like, optional
        MXNet's names for the bounds.

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
    """Return a bound within the range of an integer array, under MXNet's dtype policy an int."""
    if is_symbol(array):
        return bound
    kind = dtypes.dtype_of(array.dtype_code)
    integral = isinstance(bound, integer_types)
    if kind.kind not in "iu" or not (integral or isinstance(bound, numeric_types)):
        return bound
    if not integral and (front.has_numpy_types() or bound != bound):
        return bound
    limits = onp.iinfo(kind)
    return limits.min if bound < limits.min else limits.max if bound > limits.max else int(bound)


def _fits_operator(array, bound):
    """Return whether operator `clip`, which takes doubles and keeps the dtype, supports a bound."""
    kind = None if is_symbol(array) else dtypes.dtype_of(array.dtype_code)
    if kind is None or kind.kind not in "iu":
        return bound is None or (isinstance(bound, numeric_types) and bound == bound)
    return kind.itemsize < 8 and (bound is None or isinstance(bound, integer_types))


def divmod(x1, x2, out=None):
    """Return the floored quotient and the remainder with the sign of the divisor.

    Parameters
    ----------
    x1, x2 : scalar or array_like
    out : tuple of two ndarrays, optional
        Arrays to write the results to.

    Returns
    -------
    (ndarray, ndarray)
    """
    first, second = (None, None) if out is None else out
    return function("floor_divide")(x1, x2, out=first), function("mod")(x1, x2, out=second)


def exp2(x, out=None):
    """Compute ``2 ** x`` elementwise.

    Parameters
    ----------
    x : array_like
    out : ndarray, optional
        Array to write the result to.

    Returns
    -------
    ndarray
    """
    return function("power")(2.0, as_real(as_array(x)), out=out)


def logaddexp2(x1, x2, out=None):
    """Compute ``log2(2 ** x1 + 2 ** x2)`` elementwise.

    Parameters
    ----------
    x1, x2 : scalar or array_like
    out : ndarray, optional
        Array to write the result to.

    Returns
    -------
    ndarray
    """
    x1, x2 = (x * math.log(2) for x in _as_reals("logaddexp2", x1, x2))
    return function("multiply")(function("logaddexp")(x1, x2), 1 / math.log(2), out=out)


def sinc(x):
    """Compute ``sin(pi x) / (pi x)`` elementwise, 1 at 0.

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
    """Return the fractional and integral parts, both with the sign of the element.

    Parameters
    ----------
    x : array_like

    Returns
    -------
    (ndarray, ndarray)
    """
    x = as_real(as_np_array(x))
    integer = function("trunc")(x)
    fraction = function("copysign")(x - integer, x)
    return operate("where", function("isinf")(x), operate("_npi_zeros_like", x), fraction), integer


def as_real(x):
    """Cast an array to the dtype of real-valued functions of it."""
    if not is_symbol(x):
        code = real_type(front.has_numpy_types(), x.dtype_code)
        return x if code == x.dtype_code else cast(x, code)
    # a symbol has no dtype yet: multiply by ones of exp's dtype
    return x * operate("_npi_ones_like", function("exp")(operate("_npi_zeros_like", x)))


def _as_reals(name, x1, x2):
    """Promote two operands to the floating-point dtype of real-valued binary functions."""
    arrays = [x.as_np_ndarray() for x in promoted((x1, x2))]
    if is_complex(arrays[0]):
        raise TypeError(f"{name}: expected real numbers, got {arrays[0].dtype}")
    # an empty result has the dtype of the full one
    empty = [x if onp.isscalar(x) else as_array(x).reshape(-1)[:0] for x in (x1, x2)]
    meeting = function("hypot")(*empty) if front.has_numpy_types() else None
    if is_array(meeting):
        return [cast(x, meeting.dtype_code) for x in arrays]
    return [as_real(x) for x in arrays]


def float_power(x1, x2, out=None):
    """Compute powers in float64, or complex128 for complex operands.

    Parameters
    ----------
    x1, x2 : scalar or array_like
    out : ndarray, optional
        Array to write the result to.

    Returns
    -------
    ndarray
    """
    arrays = [as_array(x) for x in (x1, x2)]
    if any(map(is_complex, arrays)):
        operands = [cast(x, dtypes.CODES["complex128"]) for x in arrays]
    else:
        operands = [operate("Cast", x, dtype="float64") for x in arrays]
    return function("power")(*operands, out=out)


def heaviside(x1, x2, out=None):
    """Compute the Heaviside step function: 0 if x1 < 0, x2 if x1 == 0, else 1; NaN for NaN.

    Parameters
    ----------
    x1, x2 : scalar or array_like
    out : ndarray, optional
        Array to write the result to.

    Returns
    -------
    ndarray
    """
    x1, x2 = _as_reals("heaviside", x1, x2)
    step = function("sign")(x1)
    result = operate("_npi_where", x1 == 0, x2, (step + 1) / 2)
    return result if out is None else function("positive")(result, out=out)


def real(val):
    """Return the real part of an array; the array itself if it is real."""
    array = as_np_array(val)
    return operate("_mx_real", array) if is_complex(array) else array


def imag(val):
    """Return the imaginary part of an array; zeros if it is real."""
    array = as_np_array(val)
    return operate("_mx_imag" if is_complex(array) else "_npi_zeros_like", array)


def isreal(x):
    """Return elementwise whether the imaginary part is zero."""
    return imag(x) == 0


def iscomplex(x):
    """Return elementwise whether the imaginary part is nonzero."""
    return imag(x) != 0


def real_if_close(a, tol=100):
    """Return the real part if all imaginary parts are close to zero, else the array itself.

    Parameters
    ----------
    a : array_like
    tol : float
        Tolerance in machine epsilons of the dtype; an absolute tolerance if at most 1.

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
    """Return the complex conjugate of an array; the array itself if it is real.

    Parameters
    ----------
    x : array_like
    out : ndarray, optional
        Array to write the result to.

    Returns
    -------
    ndarray
    """
    array = as_np_array(x)
    result = operate("_mx_conj", array) if is_complex(array) else array
    return result if out is None else function("positive")(result, out=out)


def angle(z, deg=False):
    """Return the angle (argument) of complex elements, in (-pi, pi].

    Parameters
    ----------
    z : array_like
    deg : bool
        Return degrees instead of radians.

    Returns
    -------
    ndarray
    """
    array = as_np_array(z)
    radians = function("arctan2")(imag(array), real(array))
    return function("degrees")(radians) if deg else radians


conjugate = conj
