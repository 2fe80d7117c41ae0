"""`mx.np` functions that create constant arrays."""

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
    """Return a new uninitialised array.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : dtype, optional
        Default floating-point type if omitted.
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
    """Create `zeros` or `ones`, with a fast path for common calls."""
    operator = register.function("", name)

    def zeros(shape, dtype=None, order="C", ctx=None, device=None):
        return operator(shape, dtype, order, ctx, device)

    zeros.__name__ = zeros.__qualname__ = name
    zeros.__doc__ = f"""Return a new array of {name}.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : dtype, optional
        Default floating-point type if omitted.
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
    """Return a new array filled with a value.

    Parameters
    ----------
    shape : int or tuple of int
    fill_value : scalar or array_like
        Broadcast to the shape.
    dtype : dtype, optional
        By default int64 for an integer, bool for a boolean, the dtype of an array, else the default
        floating-point or complex dtype.
    order : {'C'}
    ctx, device : Device, optional
    out : ndarray, optional
        Array to write the result to.

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
    """Return the identity matrix.

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
