"""Functions of `mx.np` that make arrays of Python's and NumPy's objects and of rules."""

import functools

import numpy as onp

from mxcy._base import dtypes
from mxcy._library import front
from mxcy.base import _Null, integer_types
from mxcy.context import Context, as_context, check_usable
from mxcy.ndarray._exchange import dlpack
from mxcy.numpy import register
from mxcy.numpy._arrays.ndarray import ndarray
from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import as_array, from_onp, is_array, is_number_type
from mxcy.numpy._calls.symbolic import is_symbol
from mxcy.ops.core.record import find
from mxcy.ops.core.result_types import default_complex

__all__ = [
    "arange",
    "array",
    "asarray",
    "ascontiguousarray",
    "astype",
    "copy",
    "empty",
    "empty_like",
    "from_dlpack",
    "full",
    "full_like",
    "identity",
    "linspace",
    "logspace",
    "ones",
    "zeros",
]


_MOST_EXACT = 1 << 53  # integers up to here are doubles, which operators take
_quick = functools.partial(front.shortcut, cls=ndarray)


def _check_order(order, name):
    if order not in (None, "C", "K", "A"):
        raise NotImplementedError(f"{name}: arrays are always in order 'C', got order={order!r}")


def place(ctx, device=None):
    """A context that can hold arrays, of ``ctx=`` or ``device=``."""
    ctx = as_context(device if ctx is None else ctx)
    check_usable(ctx)
    return ctx


def default_float():
    """The floating NumPy type that is used where none is given."""
    return onp.dtype(onp.float64 if front.has_numpy_types() else onp.float32)


def _default_type(kind):
    """The type that is used for numbers of a NumPy type: a floating or a complex one."""
    if kind.kind == "c":
        return dtypes.dtype_of(default_complex(front.has_numpy_types()))
    return default_float()


def _extents(shape):
    if isinstance(shape, integer_types) or hasattr(shape, "__index__"):
        return (shape.__index__(),)
    return tuple(extent.__index__() for extent in shape)


def _made(name, ctx, **attrs):
    """Call an operator without inputs."""
    record = find(name)
    return front.call(front.bind(record), (), _raw(record, ctx, attrs), None, {}, ndarray)


def _raw(record, ctx, attrs):
    attrs["ctx"] = str(ctx)
    return tuple(attrs.get(name, _Null) for name in record.schema.names)


@_quick
def array(object, dtype=None, copy=True, ctx=None, device=None):
    """An array with the elements of an array-like object.

    Parameters
    ----------
    object : array_like
        An array, a NumPy array, a number, or nested sequences.
    dtype : dtype, optional
        By default that of an array of mxcy; of others the default floating or complex type, unless
        NumPy's default types are on, where NumPy arrays keep theirs.
    copy : bool
        False gives an array of `mx.np` back as it is, if it has that type.
    ctx, device : Device, optional
        Where to put it; the current device by default.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        When the object is not array-like, its elements are no numbers, or complex ones shall become
        real.
    """
    if isinstance(copy, (Context, str)):  # as MXNet orders them
        copy, device = True, copy
    if is_array(object):
        return _of_array(object, dtype, copy, ctx, device)
    if type(object) in (int, float) and ctx is None and device is None:
        return full((), object, default_float() if dtype is None else _named(dtype))
    values = _onp(object)
    if dtype is not None:
        values = _exactly(object, values, _named(dtype))
    else:
        keeps = isinstance(object, onp.generic)
        if isinstance(object, onp.ndarray):
            keeps = front.has_numpy_types()
        dtype = values.dtype if keeps else _default_type(values.dtype)
    return from_onp(values, _named(dtype), place(ctx, device))


def _of_array(array, dtype, copy, ctx, device):
    context = array.context if ctx is None and device is None else place(ctx, device)
    code = array.dtype_code if dtype is None else dtypes.code_of(_named(dtype))
    if code == array.dtype_code and context == array.context and not copy:
        return array.as_np_ndarray()
    if front.is_deferred() and context == array.context:
        array = array.as_np_ndarray()
        return array.copy() if code == array.dtype_code else array.astype(dtypes.dtype_of(code))
    made = front.empty(array.shape, code, context, ndarray)
    return array.copyto(made)


def _named(dtype):
    """An element type of anything that names one."""
    if isinstance(dtype, str) and dtype in dtypes.CODES:
        return dtypes.dtype_of(dtypes.CODES[dtype])
    return dtypes.numpy_dtype(dtype)


def _onp(object):
    """An array-like object as a NumPy array."""
    try:
        values = onp.asarray(object)
    except ValueError as error:
        raise TypeError(f"cannot make an array of {object!r:.80}: {error}") from None
    if not is_number_type(values.dtype):
        raise TypeError(f"cannot make an array of {object!r:.80}, which has type {values.dtype}")
    return values


def _exactly(object, values, dtype):
    """The elements of lists, where NumPy chose floating numbers for large integers."""
    whole = dtype.kind in "iu" and dtype.itemsize == 8
    if not whole or values.dtype.kind != "f" or isinstance(object, onp.ndarray):
        return values
    try:
        return onp.asarray(object, dtype)
    except (OverflowError, ValueError):  # of NaN, or of numbers beyond the type
        return values


def asarray(obj, dtype=None, device=None, copy=None, ctx=None):
    """An array, without copying an array of mxcy that fits.

    Parameters
    ----------
    obj : array_like
        Python's integers become int64 and booleans bool, as the array API has it.
    dtype : dtype, optional
    device, ctx : Device, optional
    copy : bool, optional
        True copies; False raises ValueError where a copy is needed.

    Returns
    -------
    ndarray
    """
    if is_array(obj):
        code = obj.dtype_code if dtype is None else dtypes.code_of(_named(dtype))
        if copy is False and code != obj.dtype_code:
            raise ValueError("asarray: another element type needs a copy")
        return _of_array(obj, dtype, bool(copy), ctx, device)
    if copy is False:
        raise ValueError("asarray: making an array of this object needs a copy")
    values = _onp(obj)
    if dtype is None and values.dtype.kind in "biu" and not isinstance(obj, onp.ndarray):
        dtype = values.dtype
    return array(obj, dtype, True, ctx, device)


def astype(x, dtype, /, *, copy=True, device=None):
    """An array with another element type.

    Parameters
    ----------
    x : ndarray
    dtype : dtype
    copy : bool
        False returns the array itself when it has that type already.
    device : Device, optional
        By default where the array is.

    Returns
    -------
    ndarray
    """
    found = asarray(x).astype(dtype, copy=copy)
    return found if device is None else found.as_in_ctx(device)


def ascontiguousarray(a, dtype=None):
    """The array itself: all arrays of mxcy are contiguous."""
    return asarray(a, dtype)


def copy(a, out=None):
    """A copy of an array.

    Parameters
    ----------
    a : array_like
    out : ndarray, optional
        The array that takes it.

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
    """An array over the memory of another library's array.

    Parameters
    ----------
    x : object
        Offers ``__dlpack__``.
    device : Device, optional
        Where it shall be; by default where it is.
    copy : bool, optional
        True copies, False never does.

    Returns
    -------
    ndarray

    Raises
    ------
    BufferError
        When the memory cannot be shared and `copy` is False.
    """
    if is_array(x):
        made = x.detached(ndarray)
    else:
        made = dlpack.taken(x, copy if device is None else None).as_np_ndarray()
        copy = copy and device is not None
    if device is not None and as_context(device) != made.context and copy is False:
        raise BufferError(f"from_dlpack: on {device} there can only be a copy")
    return _of_array(made, None, bool(copy), None, device)


@_quick
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
    _check_order(order, "empty")
    dtype = default_float() if dtype is None else _named(dtype)
    return front.empty(_extents(shape), dtypes.code_of(dtype), place(ctx, device), ndarray)


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
    _check_order(order, "empty_like")
    if subok:
        raise NotImplementedError("empty_like: subok=True is not implemented")
    prototype = asarray(prototype)
    code = prototype.dtype_code if dtype is None else dtypes.code_of(_named(dtype))
    extents = prototype.shape if shape is None else _extents(shape)
    context = prototype.context if device is None else place(device)
    return front.empty(extents, code, context, ndarray)


def _constant(name):
    """A function that fills arrays, quick where a call is usual."""
    made = register.function("", name)

    def zeros(shape, dtype=None, order="C", ctx=None, device=None):
        return made(shape, dtype, order, ctx, device)

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
    return _quick(zeros)


zeros, ones = _constant("zeros"), _constant("ones")


def full_attributes(shape, value, dtype):
    """The attributes of operator `_npi_full`: numbers stand where they are exact."""
    dtype = _own_type(value) if dtype is None else _named(dtype)
    attrs = {"shape": _extents(shape), "dtype": dtypes.name_of(dtypes.code_of(dtype))}
    return {**attrs, **_placed(value, value=value)}


def linspace_attributes(start, stop, num, endpoint):
    """The attributes of operator `_npi_linspace`."""
    numbers = _placed(start, stop, start=start, stop=stop)
    return {**numbers, "num": num.__index__(), "endpoint": endpoint}


def _placed(*numbers, **named):
    """Numbers by the names of their kind, and attribute `value_type`."""
    whole = all(isinstance(x, integer_types) for x in numbers)
    low, high = min(numbers), max(numbers)
    signed, unsigned = -(1 << 63) <= low and high < 1 << 63, low >= 0 and high < 1 << 64
    kind = (0 if signed else 1 if unsigned else 2) if whole else 2
    word = ("int", "uint", "double")[kind]
    own = {f"{word}_value" if n == "value" else f"{n}_{word}": x for n, x in named.items()}
    convert = float if kind == 2 else int
    return {**{name: convert(x) for name, x in own.items()}, "value_type": kind}


def _filled(made, value):
    if is_array(value):
        if value.shape != made.shape:
            value = value.as_np_ndarray().broadcast_to(made.shape)
        return value.copyto(made)
    made[...] = value
    return made


@_quick
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
    _check_order(order, "full")
    if out is not None:
        return _filled(out, fill_value)
    if front.is_deferred() and not is_array(fill_value):
        return _made("_npi_full", place(ctx, device), **full_attributes(shape, fill_value, dtype))
    if dtype is None:
        dtype = _own_type(fill_value)
    return _filled(empty(shape, dtype, "C", ctx, device), fill_value)


def _own_type(value):
    if is_array(value) or isinstance(value, (onp.ndarray, onp.generic)):
        return value.dtype
    kind = onp.asarray(value).dtype
    return kind if kind.kind in "bi" else _default_type(kind)


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
    _check_order(order, "full_like")
    if out is not None:
        return _filled(out, fill_value)
    small = isinstance(fill_value, (bool, int, float)) and not abs(fill_value) > 1 << 53
    if small and (front.is_recording() or front.is_deferred()):
        word = None if dtype is None else dtypes.name_of(dtypes.code_of(_named(dtype)))
        return operate("_npi_full_like", asarray(a), fill_value=float(fill_value), dtype=word)
    made = empty_like(a, dtype, device=device if ctx is None else ctx)
    return _filled(made, fill_value)


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
    dtype = None if dtype is None else _named(dtype)
    return _made("_npi_identity", place(ctx, device), shape=(n, n), dtype=dtype)


@_quick
def arange(start, stop=None, step=1, dtype=None, ctx=None, device=None):
    """Evenly spaced values in the half-open interval from start to stop, or from 0 to `start`.

    Parameters
    ----------
    start, stop, step : number
    dtype : dtype, optional
        float32 by default; with NumPy's default types int64 of integers, else float64.
    ctx, device : Device, optional

    Returns
    -------
    ndarray

    Raises
    ------
    MXNetError
        When `step` is 0.
    """
    start, stop = (0, start) if stop is None else (start, stop)
    start, step = 0 if start is None else start, 1 if step is None else step
    whole = all(isinstance(value, integer_types) for value in (start, stop, step))
    if dtype is None and front.has_numpy_types() and whole:
        dtype = onp.int64
    dtype = None if dtype is None else _named(dtype)
    if whole and step and max(abs(start), abs(stop), abs(step)) > _MOST_EXACT:
        values = onp.asarray(range(start, stop, step), dtype or default_float())
        return from_onp(values, ctx=place(ctx, device))
    return _made("_npi_arange", place(ctx, device), start=start, stop=stop, step=step, dtype=dtype)


def linspace(
    start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, ctx=None, device=None
):
    """`num` evenly spaced values from start to stop.

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
        Where the values lie of arrays.
    ctx, device : Device, optional

    Returns
    -------
    ndarray, or (ndarray, float)
    """
    num = num.__index__()
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    parts = num - 1 if endpoint else num
    step = (stop - start) / parts if parts > 0 else onp.nan
    dtype = None if dtype is None else _named(dtype)
    if all(isinstance(value, (int, float, onp.generic)) for value in (start, stop)):
        made = _made(
            "_npi_linspace",
            place(ctx, device),
            dtype=dtype,
            **linspace_attributes(start, stop, num, endpoint),
        )
        return (made, step) if retstep else made
    values = onp.linspace(_onp(start), _onp(stop), num, endpoint, axis=axis)
    dtype = _default_type(values.dtype) if dtype is None else dtype
    made = from_onp(values, dtype, place(ctx, device))
    return (made, step) if retstep else made


def logspace(
    start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0, ctx=None, device=None
):
    """`num` values from base ** start to base ** stop, evenly spaced on a logarithmic scale.

    Parameters
    ----------
    start, stop : number or array_like
    num : int
    endpoint : bool
        Whether the last value is ``base ** stop``.
    base : float
    dtype : dtype, optional
    axis : int
        Where the values lie of arrays.
    ctx, device : Device, optional

    Returns
    -------
    ndarray
    """
    if all(isinstance(value, (int, float)) for value in (start, stop, base)) and num >= 0:
        attrs = {"start": start, "stop": stop, "num": num, "endpoint": endpoint, "base": base}
        dtype = None if dtype is None else _named(dtype)
        return _made("_npi_logspace", place(ctx, device), dtype=dtype, **attrs)
    values = onp.logspace(_onp(start), _onp(stop), num, endpoint, base, axis=axis)
    dtype = _default_type(values.dtype) if dtype is None else _named(dtype)
    return from_onp(values, dtype, place(ctx, device))
