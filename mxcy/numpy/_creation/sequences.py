"""`mx.np` functions that create evenly spaced values, and windows."""

import numpy as onp

from mxcy._base.errors import InvalidValueError
from mxcy._library import front
from mxcy.base import integer_types
from mxcy.numpy._calls.operands import from_onp, whole_number
from mxcy.numpy._creation.conversion import onp_array
from mxcy.numpy._creation.rules import (
    default_float,
    default_type,
    exact_numbers,
    generate,
    named_type,
    place,
    quick,
)

__all__ = ["arange", "bartlett", "kaiser", "linspace", "logspace"]

_MOST_EXACT = 1 << 53  # integers up to here are exact as doubles, which operators take


def linspace_attributes(start, stop, num, endpoint):
    """Return the attributes of operator `_npi_linspace`."""
    numbers = exact_numbers(start, stop, start=start, stop=stop)
    return {**numbers, "num": num.__index__(), "endpoint": endpoint}


@quick
def arange(start, stop=None, step=1, dtype=None, ctx=None, device=None):
    """Return evenly spaced values in [start, stop), or in [0, start) with one bound.

    Parameters
    ----------
    start, stop, step : number
    dtype : dtype, optional
        float32 by default; with NumPy's default dtypes int64 for integers, else float64.
    ctx, device : Device, optional

    Returns
    -------
    ndarray

    Raises
    ------
    MXNetError
        If `step` is 0.
    """
    start, stop = (0, start) if stop is None else (start, stop)
    start, step = 0 if start is None else start, 1 if step is None else step
    integral = all(isinstance(value, integer_types) for value in (start, stop, step))
    if dtype is None and front.has_numpy_types() and integral:
        dtype = onp.int64
    dtype = None if dtype is None else named_type(dtype)
    if integral and step and max(abs(start), abs(stop), abs(step)) > _MOST_EXACT:
        values = onp.asarray(range(start, stop, step), dtype or default_float())
        return from_onp(values, ctx=place(ctx, device))
    return generate(
        "_npi_arange", place(ctx, device), start=start, stop=stop, step=step, dtype=dtype
    )


def linspace(
    start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, ctx=None, device=None
):
    """Return `num` evenly spaced values from start to stop.

    Parameters
    ----------
    start, stop : number or array_like
    num : int
    endpoint : bool
        Whether the last value is `stop`.
    retstep : bool
        Whether to return the step as well.
    dtype : dtype, optional
    axis : int
        Axis of the values if `start` or `stop` is an array.
    ctx, device : Device, optional

    Returns
    -------
    ndarray, or (ndarray, float)
    """
    num = whole_number("linspace", "num", num)
    if num < 0:
        raise InvalidValueError(f"Number of samples, {num}, must be non-negative.")
    parts = num - 1 if endpoint else num
    step = (stop - start) / parts if parts > 0 else onp.nan
    dtype = None if dtype is None else named_type(dtype)
    if all(isinstance(value, (int, float, onp.generic)) for value in (start, stop)):
        samples = generate(
            "_npi_linspace",
            place(ctx, device),
            dtype=dtype,
            **linspace_attributes(start, stop, num, endpoint),
        )
        return (samples, step) if retstep else samples
    values = onp.linspace(onp_array(start), onp_array(stop), num, endpoint, axis=axis)
    dtype = default_type(values.dtype) if dtype is None else dtype
    samples = from_onp(values, dtype, place(ctx, device))
    return (samples, step) if retstep else samples


def logspace(
    start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0, ctx=None, device=None
):
    """Return `num` values from base ** start to base ** stop, evenly spaced on a log scale.

    Parameters
    ----------
    start, stop : number or array_like
    num : int
    endpoint : bool
        Whether the last value is ``base ** stop``.
    base : float
    dtype : dtype, optional
    axis : int
        Axis of the values if `start` or `stop` is an array.
    ctx, device : Device, optional

    Returns
    -------
    ndarray
    """
    if all(isinstance(value, (int, float)) for value in (start, stop, base)) and num >= 0:
        attrs = {"start": start, "stop": stop, "num": num, "endpoint": endpoint, "base": base}
        dtype = None if dtype is None else named_type(dtype)
        return generate("_npi_logspace", place(ctx, device), dtype=dtype, **attrs)
    values = onp.logspace(onp_array(start), onp_array(stop), num, endpoint, base, axis=axis)
    dtype = default_type(values.dtype) if dtype is None else named_type(dtype)
    return from_onp(values, dtype, place(ctx, device))


def bartlett(M, dtype=None, ctx=None, device=None):  # noqa: N803  its public name
    """Return the Bartlett (triangular) window with `M` points.

    Parameters
    ----------
    M : int
    dtype : dtype, optional
        Default floating-point type if omitted.
    ctx, device : Device, optional

    Returns
    -------
    ndarray
    """
    return _window(onp.bartlett(M), dtype, ctx, device)


def kaiser(M, beta, dtype=None, ctx=None, device=None):  # noqa: N803  its public name
    """Return the Kaiser window with `M` points.

    Parameters
    ----------
    M : int
    beta : float
        Shape parameter: larger values give a narrower window.
    dtype : dtype, optional
        Default floating-point type if omitted.
    ctx, device : Device, optional

    Returns
    -------
    ndarray
    """
    return _window(onp.kaiser(M, beta), dtype, ctx, device)


def _window(values, dtype, ctx, device):
    kind = default_float() if dtype is None else named_type(dtype)
    return from_onp(values, kind, place(ctx, device))
