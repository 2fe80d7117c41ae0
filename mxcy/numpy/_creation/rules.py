"""What functions that make arrays share: defaults, devices, constants."""

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
    """Refuse memory layouts other than that of C, which may be that of an array to be `like`."""
    if order not in ((None, "C", "K", "A") if like else (None, "C", "K")):
        raise NotImplementedError(f"{name}: arrays are always in order 'C', got order={order!r}")


def place(ctx, device=None):
    """A context that can hold arrays, of ``ctx=`` or ``device=``."""
    ctx = as_context(device if ctx is None else ctx)
    check_usable(ctx)
    return ctx


def default_float():
    """The floating NumPy type that is used where none is given."""
    return onp.dtype(onp.float64 if front.has_numpy_types() else onp.float32)


def default_type(kind):
    """The type that is used for numbers of a NumPy type: a floating or a complex one."""
    if kind.kind == "c":
        return dtypes.dtype_of(default_complex(front.has_numpy_types()))
    return default_float()


def named_type(dtype):
    """An element type of anything that names one."""
    if isinstance(dtype, str) and dtype in dtypes.CODES:
        return dtypes.dtype_of(dtypes.CODES[dtype])
    return dtypes.numpy_dtype(dtype)


def extents_of(shape):
    """A shape of a number or a sequence of numbers."""
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
    """The element type of an array filled with a value, where none is given."""
    if is_array(value) or isinstance(value, (onp.ndarray, onp.generic)):
        return value.dtype
    kind = onp.asarray(value).dtype
    return kind if kind.kind in "bi" else default_type(kind)


def full_attributes(shape, value, dtype):
    """The attributes of operator `_npi_full`: numbers stand where they are exact."""
    dtype = type_of_value(value) if dtype is None else named_type(dtype)
    attrs = {"shape": extents_of(shape), "dtype": dtypes.name_of(dtypes.code_of(dtype))}
    return {**attrs, **exact_numbers(value, value=value)}


def exact_numbers(*numbers, **named):
    """Numbers by the names of their kind, and attribute `value_type`."""
    whole = all(isinstance(x, integer_types) for x in numbers)
    low, high = min(numbers), max(numbers)
    signed, unsigned = -(1 << 63) <= low and high < 1 << 63, low >= 0 and high < 1 << 64
    kind = (0 if signed else 1 if unsigned else 2) if whole else 2
    word = ("int", "uint", "double")[kind]
    own = {f"{word}_value" if n == "value" else f"{n}_{word}": x for n, x in named.items()}
    convert = float if kind == 2 else int
    return {**{name: convert(x) for name, x in own.items()}, "value_type": kind}


def filled(array, value):
    """An array that has taken a value, which is broadcast to its shape."""
    if is_array(value):
        if value.shape != array.shape:
            value = value.as_np_ndarray().broadcast_to(array.shape)
        return value.copyto(array)
    array[...] = value
    return array
