"""`mx.np` functions that convert Python objects, NumPy arrays and others to arrays."""

import numpy as onp

from mxcy._base import dtypes
from mxcy._library import front
from mxcy.context import Context, as_context
from mxcy.ndarray._exchange import dlpack
from mxcy.numpy._arrays.ndarray import ndarray
from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import as_array, from_onp, is_array, is_number_type
from mxcy.numpy._calls.symbolic import is_symbol
from mxcy.numpy._creation.constants import full
from mxcy.numpy._creation.rules import (
    check_order,
    default_float,
    default_type,
    named_type,
    place,
    quick,
)

__all__ = ["array", "asanyarray", "asarray", "asarray_chkfinite", "ascontiguousarray", "astype"]
__all__ += ["copy", "from_dlpack"]


@quick
def array(object, dtype=None, copy=True, ctx=None, device=None):
    """Create an array from an array-like object.

    Parameters
    ----------
    object : array_like
        An array, a NumPy array, a number, or nested sequences.
    dtype : dtype, optional
        By default mxcy arrays keep theirs; other objects get the default floating-point or complex
        dtype, except that NumPy arrays keep theirs if NumPy's default dtypes are on.
    copy : bool
        If False, return an `mx.np` array itself if it already has that dtype.
    ctx, device : Device, optional
        Device of the result; the current device by default.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If the object is not array-like, its elements are not numbers, or complex elements would
        have to become real.
    """
    if isinstance(copy, (Context, str)):  # MXNet's argument order
        copy, device = True, copy
    if is_array(object):
        return _of_array(object, dtype, copy, ctx, device)
    if type(object) in (int, float) and ctx is None and device is None:
        return full((), object, default_float() if dtype is None else named_type(dtype))
    values = onp_array(object)
    if dtype is not None:
        values = _exactly(object, values, named_type(dtype))
    else:
        keeps = isinstance(object, onp.generic)
        if isinstance(object, onp.ndarray):
            keeps = front.has_numpy_types()
        dtype = values.dtype if keeps else default_type(values.dtype)
    return from_onp(values, named_type(dtype), place(ctx, device))


def _of_array(array, dtype, copy, ctx, device):
    context = array.context if ctx is None and device is None else place(ctx, device)
    code = array.dtype_code if dtype is None else dtypes.code_of(named_type(dtype))
    if code == array.dtype_code and context == array.context and not copy:
        return array.as_np_ndarray()
    if front.is_deferred() and context == array.context:
        array = array.as_np_ndarray()
        return array.copy() if code == array.dtype_code else array.astype(dtypes.dtype_of(code))
    return array.copyto(front.empty(array.shape, code, context, ndarray))


def onp_array(object):
    """Convert an array-like object to a NumPy array."""
    try:
        values = onp.asarray(object)
    except ValueError as error:
        raise TypeError(f"cannot make an array of {object!r:.80}: {error}") from None
    if not is_number_type(values.dtype):
        raise TypeError(f"cannot make an array of {object!r:.80}, which has type {values.dtype}")
    return values


def _exactly(object, values, dtype):
    """Convert lists whose large integers NumPy turned into floats."""
    wide_integer = dtype.kind in "iu" and dtype.itemsize == 8
    if not wide_integer or values.dtype.kind != "f" or isinstance(object, onp.ndarray):
        return values
    try:
        return onp.asarray(object, dtype)
    except (OverflowError, ValueError):  # NaN, or out of range
        return values


def asarray(obj, dtype=None, device=None, copy=None, ctx=None):
    """Convert to an array, without copying a suitable mxcy array.

    Parameters
    ----------
    obj : array_like
        By default Python integers become int64 and booleans bool, as in the array API.
    dtype : dtype, optional
    device, ctx : Device, optional
    copy : bool, optional
        True always copies; False raises ValueError if a copy is needed.

    Returns
    -------
    ndarray
    """
    if is_array(obj):
        code = obj.dtype_code if dtype is None else dtypes.code_of(named_type(dtype))
        if copy is False and code != obj.dtype_code:
            raise ValueError("asarray: another element type needs a copy")
        return _of_array(obj, dtype, bool(copy), ctx, device)
    if copy is False:
        raise ValueError("asarray: making an array of this object needs a copy")
    values = onp_array(obj)
    if dtype is None and values.dtype.kind in "biu" and not isinstance(obj, onp.ndarray):
        dtype = values.dtype
    return array(obj, dtype, True, ctx, device)


asanyarray = asarray


def asarray_chkfinite(a, dtype=None, order=None):
    """Convert to an array, checking that all elements are finite; see `asarray`.

    Parameters
    ----------
    a : array_like
    dtype : dtype, optional
    order : {'C', 'K', None}

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If an element is infinite or NaN.
    """
    check_order(order, "asarray_chkfinite")
    array = asarray(a, dtype)
    if array.dtype.kind in "fc" and not onp.isfinite(array.asnumpy()).all():
        raise ValueError("array must not contain infs or NaNs")
    return array


def astype(x, dtype, /, *, copy=True, device=None):
    """Cast an array to another dtype.

    Parameters
    ----------
    x : ndarray
    dtype : dtype
    copy : bool
        If False, return the array itself if it already has that dtype.
    device : Device, optional
        By default the device of the array.

    Returns
    -------
    ndarray
    """
    result = asarray(x).astype(dtype, copy=copy)
    return result if device is None else result.as_in_ctx(device)


def ascontiguousarray(a, dtype=None):
    """Return the array itself: mxcy arrays are always contiguous."""
    return asarray(a, dtype)


def copy(a, out=None):
    """Return a copy of an array.

    Parameters
    ----------
    a : array_like
    out : ndarray, optional
        Array to write the copy to.

    Returns
    -------
    ndarray
    """
    if is_symbol(a):
        return operate("_npi_copy", a)
    if out is not None:
        return as_array(a).copyto(out)
    return array(a) if not is_array(a) else _of_array(a, None, True, None, None)


def from_dlpack(x, device=None, copy=None):
    """Create an array that shares memory with another library's array.

    Parameters
    ----------
    x : object
        Object with ``__dlpack__``.
    device : Device, optional
        Device of the result; by default that of the array.
    copy : bool, optional
        True always copies, False never does.

    Returns
    -------
    ndarray

    Raises
    ------
    BufferError
        If the memory cannot be shared and `copy` is False.
    """
    if is_array(x):
        shared = x.detached(ndarray)
    else:
        shared = dlpack.taken(x, copy if device is None else None).as_np_ndarray()
        copy = copy and device is not None
    if device is not None and as_context(device) != shared.context and copy is False:
        raise BufferError(f"from_dlpack: on {device} there can only be a copy")
    return _of_array(shared, None, bool(copy), None, device)
