"""Functions of `mx.np` that make arrays of one value."""

from mxcy._base import dtypes
from mxcy._library import front
from mxcy.context import Context
from mxcy.numpy import register
from mxcy.numpy._arrays.ndarray import ndarray
from mxcy.numpy._calls.general import operate
from mxcy.numpy._creation.conversion import asarray
from mxcy.numpy._creation.rules import (
    check_order,
    constant,
    default_float,
    extents_of,
    filled,
    generate,
    named_type,
    place,
    quick,
    type_of_value,
)

__all__ = ["empty", "empty_like", "full", "full_like", "identity", "ones", "zeros"]


@quick
def empty(shape, dtype=None, order="C", ctx=None, device=None):
    """An array whose elements are not set.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : dtype, optional
        The default floating type by default.
    order : {'C'}
    ctx, device : Device, optional

    Returns
    -------
    ndarray
    """
    check_order(order, "empty", like=False)
    dtype = default_float() if dtype is None else named_type(dtype)
    return front.empty(extents_of(shape), dtypes.code_of(dtype), place(ctx, device), ndarray)


def empty_like(prototype, dtype=None, order="C", subok=False, shape=None, device=None):
    """An array whose elements are not set, of the shape and type of another.

    Parameters
    ----------
    prototype : array_like
    dtype : dtype, optional
    order : {'C'}
    subok : {False}
    shape : tuple of int, optional
    device : Device, optional

    Returns
    -------
    ndarray
    """
    if isinstance(order, (Context, type(None))):  # as MXNet orders them
        order, device = "C", order if device is None else device
    check_order(order, "empty_like")
    if subok:
        raise NotImplementedError("empty_like: subok=True is not implemented")
    prototype = asarray(prototype)
    code = prototype.dtype_code if dtype is None else dtypes.code_of(named_type(dtype))
    extents = prototype.shape if shape is None else extents_of(shape)
    context = prototype.context if device is None else place(device)
    return front.empty(extents, code, context, ndarray)


def _function(name):
    """A function that fills arrays, quick where a call is usual."""
    operator = register.function("", name)

    def zeros(shape, dtype=None, order="C", ctx=None, device=None):
        return operator(shape, dtype, order, ctx, device)

    zeros.__name__ = zeros.__qualname__ = name
    zeros.__doc__ = f"""An array of {name}.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : dtype, optional
        The default floating type by default.
    order : {{'C'}}
    ctx, device : Device, optional

    Returns
    -------
    ndarray
    """
    return quick(zeros)


zeros, ones = _function("zeros"), _function("ones")


@quick
def full(shape, fill_value, dtype=None, order="C", ctx=None, device=None, out=None):
    """An array filled with a value.

    Parameters
    ----------
    shape : int or tuple of int
    fill_value : scalar or array_like
        Broadcast to the shape.
    dtype : dtype, optional
        By default int64 for an integer, bool for a boolean, that of an array, else the default
        floating or complex type.
    order : {'C'}
    ctx, device : Device, optional
    out : ndarray, optional
        The array that takes the result.

    Returns
    -------
    ndarray
    """
    check_order(order, "full", like=False)
    if out is not None:
        return filled(out, fill_value)
    dtype = type_of_value(fill_value) if dtype is None else named_type(dtype)
    return constant(extents_of(shape), fill_value, dtype, place(ctx, device))


def full_like(a, fill_value, dtype=None, order="C", ctx=None, device=None, out=None):
    """An array of the shape and type of another, filled with a value.

    Parameters
    ----------
    a : array_like
    fill_value : scalar or array_like
    dtype : dtype, optional
    order : {'C'}
    ctx, device : Device, optional
    out : ndarray, optional

    Returns
    -------
    ndarray
    """
    check_order(order, "full_like")
    if out is not None:
        return filled(out, fill_value)
    small = isinstance(fill_value, (bool, int, float)) and not abs(fill_value) > 1 << 53
    if small and (front.is_recording() or front.is_deferred()):
        word = None if dtype is None else dtypes.name_of(dtypes.code_of(named_type(dtype)))
        return operate("_npi_full_like", asarray(a), fill_value=float(fill_value), dtype=word)
    return filled(empty_like(a, dtype, device=device if ctx is None else ctx), fill_value)


def identity(n, dtype=None, ctx=None, device=None):
    """A square matrix with ones on its diagonal and zeros elsewhere.

    Parameters
    ----------
    n : int
    dtype : dtype, optional
    ctx, device : Device, optional

    Returns
    -------
    ndarray
    """
    dtype = None if dtype is None else named_type(dtype)
    return generate("_npi_identity", place(ctx, device), shape=(n, n), dtype=dtype)
