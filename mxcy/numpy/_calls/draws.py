"""Calls of the operators of `mx.np.random`, and what their documentation shares."""

import numpy as onp

from mxcy._base import dtypes
from mxcy.base import integer_types
from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import as_array, is_array
from mxcy.numpy._calls.symbolic import is_symbol
from mxcy.numpy._creation.rules import place
from mxcy.ops.core.record import find

__all__ = ["described", "draw", "extents_of", "name_of"]


_INTEGERS = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}


_SHARED = """
    size : int or tuple of int, optional
        The result's shape, to which arrays of parameters broadcast; by default their own.
    dtype : dtype, optional
        The default floating type unless given; numbers are drawn as float32. Integers are these
        numbers without their fractions.
    device, ctx : Device, optional
    out : ndarray, optional
        The array that takes the result.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        When a parameter is not allowed, at the latest where the result is waited for.
    """


def extents_of(size):
    """A tuple of the extents that an argument `size` names, or None."""
    if size is None:
        return None
    try:
        return (int(size),) if isinstance(size, integer_types) else tuple(map(int, size))
    except TypeError:
        raise TypeError(f"size: expected an integer or a tuple of integers, got {size!r}") from None


def name_of(dtype):
    """The name of an element type, or None."""
    return None if dtype is None else dtypes.name_of(dtypes.code_of(dtype))


def draw(name, parameters, size, dtype, device, ctx, out, **attrs):
    """Call a distribution's operator: numbers are attributes, arrays inputs."""
    arrays = []
    for parameter, value in parameters.items():
        if value is None:
            raise TypeError(f"{name}: parameter {parameter} must be given")
        if is_array(value) or is_symbol(value) or isinstance(value, (list, tuple, onp.ndarray)):
            arrays.append(as_array(value))
            parameters[parameter] = None
        else:
            parameters[parameter] = float(value)
    if not arrays:
        _check(name, attrs, **parameters)
        size = () if size is None else size
        attrs["ctx"] = str(place(ctx, device))
    kind, op = name_of(dtype), find(f"_npi_{name}")
    attrs = {**attrs, **parameters, "size": extents_of(size)}
    if kind in _INTEGERS and kind not in op.schema.by_name["dtype"].type.choices:
        return operate("Cast", operate(op.name, *arrays, **attrs), dtype=kind, out=out)
    return operate(op.name, *arrays, dtype=kind, out=out, **attrs)


def _check(name, attrs, scale=0.0, prob=0.0, shape=1.0, a=1.0, **others):
    if not scale >= 0:
        raise ValueError(f"np.random.{name}: expected scale >= 0, got {scale}")
    if not shape > 0 or not a > 0:
        raise ValueError(f"np.random.{name}: expected a positive shape, got {min(shape, a)}")
    if not attrs.get("is_logit") and not 0 <= prob <= 1:
        raise ValueError(f"np.random.{name}: expected 0 <= prob <= 1, got {prob}")


def described(parameters):
    """Add to a docstring a function's own parameters, and what all share."""

    def describe(function):
        own = "\n".join(f"    {name} : float or ndarray" for name in parameters.split())
        text = f"{function.__doc__}\n\n    Parameters\n    ----------\n{own}{_SHARED}"
        if function.__name__ in ("chisquare", "beta", "f"):
            text = text.replace(
                "    out : ndarray, optional\n        The array that takes the result.\n", ""
            )
        function.__doc__ = text
        return function

    return describe
