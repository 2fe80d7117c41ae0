"""Functions of `mx.np` that make arrays of one value."""

from mxcy._base import dtypes
from mxcy._library import front
from mxcy.numpy import register
from mxcy.numpy._arrays.ndarray import ndarray
from mxcy.numpy._calls.operands import is_array
from mxcy.numpy._creation.rules import (
    check_order,
    default_float,
    extents_of,
    filled,
    full_attributes,
    generate,
    named_type,
    place,
    quick,
    type_of_value,
)

__all__ = ["empty", "full", "identity", "ones", "zeros"]


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
    if front.is_deferred() and not is_array(fill_value):
        attrs = full_attributes(shape, fill_value, dtype)
        return generate("_npi_full", place(ctx, device), **attrs)
    if dtype is None:
        dtype = type_of_value(fill_value)
    return filled(empty(shape, dtype, "C", ctx, device), fill_value)


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
