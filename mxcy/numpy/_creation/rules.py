"""Shared helpers of array creation: default dtypes, devices, constants."""

import functools

import numpy as onp

from mxcy._base import dtypes
from mxcy._library import front
from mxcy.base import _Null, integer_types
from mxcy.context import as_context, check_usable
from mxcy.numpy._arrays.ndarray import ndarray
from mxcy.numpy._calls.operands import is_array
from mxcy.ops.core.record import find
from mxcy.ops.core.result_types import default_complex

__all__ = [
    "check_order",
    "default_float",
    "default_type",
    "exact_numbers",
    "extents_of",
    "filled",
    "full_attributes",
    "generate",
    "named_type",
    "place",
    "quick",
    "type_of_value",
]

quick = functools.partial(front.shortcut, cls=ndarray)


def check_order(order, name, like=True):
    """Raise unless `order` means C order: None, 'C', 'K', and with `like` also 'A'."""
    if order not in ((None, "C", "K", "A") if like else (None, "C", "K")):
        raise NotImplementedError(f"{name}: arrays are always in order 'C', got order={order!r}")


def place(ctx, device=None):
    """Return the context given as ``ctx=`` or ``device=``, checked to be usable."""
    ctx = as_context(device if ctx is None else ctx)
    check_usable(ctx)
    return ctx


def default_float():
    """Return the default floating-point NumPy dtype."""
    return onp.dtype(onp.float64 if front.has_numpy_types() else onp.float32)


def default_type(kind):
    """Return the default dtype for values of a NumPy dtype: floating-point or complex."""
    if kind.kind == "c":
        return dtypes.dtype_of(default_complex(front.has_numpy_types()))
    return default_float()


def named_type(dtype):
    """Return the dtype denoted by an object."""
    if isinstance(dtype, str) and dtype in dtypes.CODES:
        return dtypes.dtype_of(dtypes.CODES[dtype])
    return dtypes.numpy_dtype(dtype)


def extents_of(shape):
    """Return a shape given as an int or a sequence of ints as a tuple."""
    if isinstance(shape, integer_types) or hasattr(shape, "__index__"):
        return (shape.__index__(),)
    return tuple(extent.__index__() for extent in shape)


def generate(name, ctx, **attrs):
    """Call an operator without inputs."""
    record = find(name)
    return front.call(front.bind(record), (), _raw(record, ctx, attrs), None, {}, ndarray)


def _raw(record, ctx, attrs):
    attrs["ctx"] = str(ctx)
    return tuple(attrs.get(name, _Null) for name in record.schema.names)


def type_of_value(value):
    """Return the default dtype of an array filled with a value."""
    if is_array(value) or isinstance(value, (onp.ndarray, onp.generic)):
        return value.dtype
    kind = onp.asarray(value).dtype
    return kind if kind.kind in "bi" else default_type(kind)


def full_attributes(shape, value, dtype):
    """Return the attributes of operator `_npi_full`, storing the value losslessly."""
    dtype = type_of_value(value) if dtype is None else named_type(dtype)
    attrs = {"shape": extents_of(shape), "dtype": dtypes.name_of(dtypes.code_of(dtype))}
    return {**attrs, **exact_numbers(value, value=value)}


def exact_numbers(*numbers, **named):
    """Return attributes that store numbers losslessly, by kind, with `value_type`."""
    integral = all(isinstance(x, integer_types) for x in numbers)
    low, high = min(numbers), max(numbers)
    signed, unsigned = -(1 << 63) <= low and high < 1 << 63, low >= 0 and high < 1 << 64
    kind = (0 if signed else 1 if unsigned else 2) if integral else 2
    word = ("int", "uint", "double")[kind]
    own = {f"{word}_value" if n == "value" else f"{n}_{word}": x for n, x in named.items()}
    convert = float if kind == 2 else int
    return {**{name: convert(x) for name, x in own.items()}, "value_type": kind}


def filled(array, value):
    """Fill an array with a value broadcast to its shape; return the array."""
    if is_array(value):
        if value.shape != array.shape:
            value = value.as_np_ndarray().broadcast_to(array.shape)
        return value.copyto(array)
    array[...] = value
    return array
