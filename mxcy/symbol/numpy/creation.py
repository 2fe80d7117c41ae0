"""Array creation functions of `mx.sym.np`."""

from mxcy._base import dtypes
from mxcy._library import front
from mxcy.numpy._calls import symbolic
from mxcy.numpy._calls.general import operate
from mxcy.numpy._creation.rules import full_attributes
from mxcy.numpy._creation.sequences import linspace_attributes

__all__ = ["arange", "empty_like", "full", "full_like", "identity", "linspace", "logspace"]


def _made(name, *inputs, ctx=None, device=None, dtype=None, **attrs):
    place = device if ctx is None else ctx
    if place is not None:
        attrs["ctx"] = str(place)
    if dtype is not None:
        attrs["dtype"] = dtypes.name_of(dtypes.code_of(dtype))
    with symbolic.scope():
        return operate(name, *inputs, **attrs)


def full(shape, fill_value, dtype=None, order="C", ctx=None, out=None, device=None):
    """Create an array filled with a number.

    Parameters
    ----------
    shape : int or tuple of int
    fill_value : number
    dtype : dtype, optional
        By default int64 for an integer, bool for a boolean, else the default floating type.
    order : {'C'}
    ctx, device : Device, optional
    out : optional
        Ignored.

    Returns
    -------
    Symbol
    """
    if order != "C":
        raise NotImplementedError(f"full: only order 'C' is supported, got {order!r}")
    attrs = full_attributes(shape, fill_value, dtype)
    return _made("_npi_full", ctx=ctx, device=device, **attrs)


def full_like(a, fill_value, dtype=None, order="C", ctx=None, out=None, device=None):
    """Create an array like another one, filled with a number.

    Parameters
    ----------
    a : Symbol
    fill_value : number
    dtype : dtype, optional
    order : {'C'}
    ctx, device : Device, optional
    out : optional
        Ignored.

    Returns
    -------
    Symbol
    """
    value = float(fill_value)
    return _made("_npi_full_like", a, fill_value=value, dtype=dtype, ctx=ctx, device=device)


def empty_like(prototype, dtype=None, order="C", subok=False, shape=None):
    """Create an array of zeros like another one.

    Parameters
    ----------
    prototype : Symbol
    dtype : dtype, optional
    order : {'C'}
    subok : {False}
    shape : {None}

    Returns
    -------
    Symbol
    """
    if order != "C" or subok or shape is not None:
        raise NotImplementedError("empty_like: only order 'C' without subok and shape")
    return _made("_npi_zeros_like", prototype, dtype=dtype)


def identity(n, dtype=None, ctx=None, device=None):
    """Create an identity matrix.

    Parameters
    ----------
    n : int
    dtype : dtype, optional
    ctx, device : Device, optional

    Returns
    -------
    Symbol
    """
    return _made("_npi_identity", shape=(n, n), dtype=dtype, ctx=ctx, device=device)


def arange(start, stop=None, step=1, dtype=None, ctx=None, device=None):
    """Create an array of evenly spaced values in [start, stop), or [0, start).

    Parameters
    ----------
    start, stop, step : number
    dtype : dtype, optional
        By default float32; with NumPy's default types int64 for integers, else float64.
    ctx, device : Device, optional

    Returns
    -------
    Symbol
    """
    if dtype is None and front.has_numpy_types():
        arguments = (start, 0 if stop is None else stop, 1 if step is None else step)
        dtype = "int64" if all(isinstance(n, int) for n in arguments) else "float64"
    bounds = {"start": start, "stop": stop, "step": 1 if step is None else step}
    return _made("_npi_arange", dtype=dtype, ctx=ctx, device=device, **bounds)


def linspace(
    start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, ctx=None, device=None
):
    """Create an array of `num` evenly spaced values from start to stop.

    Parameters
    ----------
    start, stop : number
    num : int
    endpoint : bool
        Whether the last value is `stop`.
    retstep : bool
        Whether to return the step as well.
    dtype : dtype, optional
    axis : {0}
    ctx, device : Device, optional

    Returns
    -------
    Symbol, or (Symbol, float)
    """
    attrs = linspace_attributes(start, stop, num, endpoint)
    points = _made("_npi_linspace", dtype=dtype, ctx=ctx, device=device, **attrs)
    return (points, (stop - start) / (num - bool(endpoint))) if retstep else points


def logspace(
    start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0, ctx=None, device=None
):
    """Create an array of `num` values from base ** start to base ** stop, log-spaced.

    Parameters
    ----------
    start, stop : number
    num : int
    endpoint : bool
        Whether the last value is ``base ** stop``.
    base : float
    dtype : dtype, optional
    axis : {0}
    ctx, device : Device, optional

    Returns
    -------
    Symbol
    """
    attrs = {"start": start, "stop": stop, "num": num, "endpoint": endpoint, "base": base}
    return _made("_npi_logspace", dtype=dtype, ctx=ctx, device=device, **attrs)
