"""`mx.np` functions on series: cumulative sums and products, integrals, phase unwrapping."""

import math

import numpy as onp

from mxcy.numpy._arrays.operators import function
from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import as_np_array
from mxcy.numpy._math.elementwise import as_real
from mxcy.numpy._shape.manipulation import concatenate
from mxcy.numpy._statistics.averages import floating
from mxcy.ops.core.infer import normal_axis

__all__ = ["cumulative_prod", "cumulative_sum", "frexp", "trapezoid", "trapz", "unwrap"]


def _ends(array, axis):
    """Return an array without its first and without its last slice along an axis."""
    place = (slice(None),) * (axis % array.ndim)
    return array[(*place, slice(1, None))], array[(*place, slice(None, -1))]


def trapz(y, x=None, dx=1.0, axis=-1):
    """Integrate along an axis by the trapezoidal rule.

    Parameters
    ----------
    y : array_like
        Values to integrate.
    x : array_like, optional
        Sample points; spaced by `dx` if omitted.
    dx : float
    axis : int

    Returns
    -------
    ndarray
    """
    y = floating(as_np_array(y))
    later, earlier = _ends(y, axis)
    means = (later + earlier) / 2
    if x is None:
        return (means * dx).sum(axis=axis)
    x = as_np_array(x)
    if x.ndim == 1:
        steps = x[1:] - x[:-1]
        shape = [1] * y.ndim
        shape[axis] = steps.size
        steps = steps.reshape(tuple(shape))
    else:
        after, before = _ends(x, axis)
        steps = after - before
    return (means * steps).sum(axis=axis)


trapezoid = trapz


def unwrap(p, discont=None, axis=-1, *, period=2 * math.pi):
    """Unwrap by adding multiples of the period after jumps larger than half a period.

    Parameters
    ----------
    p : array_like
    discont : float, optional
        Smallest jump that is changed; half a period by default.
    axis : int
    period : float

    Returns
    -------
    ndarray
    """
    p = as_np_array(p)
    if isinstance(period, float):
        p = floating(p)
    later, earlier = _ends(p, axis)
    step = later - earlier
    integral = p.dtype.kind in "iu"
    half = period // 2 if integral else period / 2
    short = (step + half) % period - half
    if 2 * half == period:
        same_way = (short == -half) & (step > 0)
        short = function("where")(same_way, short + period, short)
    limit = period / 2 if discont is None else max(discont, period / 2)
    repair = function("where")(abs(step) < limit, operate("_npi_zeros_like", step), short - step)
    repair = operate("_npi_cumsum", repair, axis=axis)
    first = p[(slice(None),) * (axis % p.ndim) + (slice(0, 1),)]
    return concatenate([first, later + repair], axis)


def _cumulative(name, x, axis, dtype, include_initial):
    x = as_np_array(x)
    if axis is None and x.ndim != 1:
        raise ValueError(f"{name}: axis must be given for arrays of {x.ndim} dimensions")
    axis = normal_axis(0 if axis is None else axis, x.ndim)
    running = function("cumsum" if name == "cumulative_sum" else "cumprod")
    running_sums = running(x, axis, dtype)
    if not include_initial:
        return running_sums
    shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    initial = as_np_array(onp.full(shape, int(name == "cumulative_prod"), running_sums.dtype))
    return concatenate([initial, running_sums], axis)


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    """Compute the cumulative sum along an axis.

    Parameters
    ----------
    x : array_like
    axis : int, optional
        Required unless the array is 1-D.
    dtype : dtype, optional
        Dtype of the result.
    include_initial : bool
        Whether to include the initial 0.

    Returns
    -------
    ndarray
    """
    return _cumulative("cumulative_sum", x, axis, dtype, include_initial)


def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    """Compute the cumulative product along an axis.

    Parameters
    ----------
    x : array_like
    axis : int, optional
        Required unless the array is 1-D.
    dtype : dtype, optional
        Dtype of the result.
    include_initial : bool
        Whether to include the initial 1.

    Returns
    -------
    ndarray
    """
    return _cumulative("cumulative_prod", x, axis, dtype, include_initial)


def frexp(x):
    """Decompose elements into mantissas in [0.5, 1) and exponents of two.

    Parameters
    ----------
    x : array_like

    Returns
    -------
    (ndarray, ndarray)
        Mantissas, and int32 exponents.
    """
    x = as_real(as_np_array(x))
    exponents = onp.asarray(onp.frexp(x.asnumpy())[1], onp.int32)
    # In two steps, because the inverse of a tiny number's power would overflow.
    first = onp.exp2(-(exponents // 2).astype("float64")).astype(x.dtype)
    second = onp.exp2((exponents // 2 - exponents).astype("float64")).astype(x.dtype)
    return x * as_np_array(first) * as_np_array(second), as_np_array(exponents)
