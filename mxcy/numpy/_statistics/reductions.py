"""Handlers for the reduction parameters `initial` and `where`."""

import numpy as onp

from mxcy._base import dtypes
from mxcy._library import front
from mxcy.numpy._calls.general import call, into, operate
from mxcy.numpy._calls.handlers import handles
from mxcy.numpy._calls.operands import as_array, as_np_array
from mxcy.ops.core.result_types import default_float

__all__ = []

_combined = {"sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum"}


def _neutral(name, array):
    """Return the identity element of a reduction."""
    if name in ("sum", "prod"):
        return float(name == "prod")
    kind = dtypes.dtype_of(array.dtype_code)
    if kind.kind == "f" or kind == dtypes.bfloat16:
        return -onp.inf if name == "max" else onp.inf
    bounds = (False, True) if kind.kind == "b" else (onp.iinfo(kind).min, onp.iinfo(kind).max)
    return bounds[name == "min"]


def _masked(array, mask, value):
    """Return the array with a value where the mask is False."""
    mask = as_array(mask)
    shape = onp.broadcast_shapes(array.shape, mask.shape)
    array, mask = (operate("_npi_broadcast_to", x, shape=shape) for x in (array, mask))
    kind = dtypes.name_of(array.dtype_code)
    other = operate("_npi_zeros_like", array) + as_array(onp.asarray(value, kind))
    return operate("where", mask, array, other)


@handles("sum", "prod", "product", "max", "amax", "min", "amin")
def reduce(called, inputs, raw, out, keywords):
    """Reduce the masked elements, starting from an initial value."""
    name = called.record.name.removeprefix("_npi_")
    initial, where = keywords.pop("initial", None), keywords.pop("where", None)
    if where is None and initial is None:
        return call(called, inputs, raw, out, keywords)
    array = as_np_array(inputs[0])
    if name in ("max", "min") and dtypes.is_complex(array.dtype_code):
        return call(called, (array,), raw, out, keywords)  # raises for them
    if where is not None and where is not True:
        if initial is None and name in ("max", "min"):
            raise ValueError(
                f"reduction operation '{called.name}' does not have an identity, so to use a where "
                "mask one has to specify 'initial'"
            )
        array = _masked(array, where, _neutral(name, array))
    if initial is None:
        return call(called, (array,), raw, out, keywords)
    if name in ("max", "min") and not array.size:
        shape = operate("_npi_sum", array, axis=raw[0], keepdims=True).shape
        kind = dtypes.dtype_of(array.dtype_code)
        array = as_array(onp.full(shape, _neutral(name, array), kind))
    result = call(called, (array,), raw, None, keywords)
    number = as_array(onp.asarray(initial, dtypes.name_of(result.dtype_code)))
    operator = f"_npi_{_combined[name]}"
    return operate(operator, result, number, out=out)


@handles("mean")
def mean(called, inputs, raw, out, keywords):
    """Compute the mean of the masked elements."""
    where = keywords.pop("where", None)
    if where is None or where is True:
        return call(called, inputs, raw, out, keywords)
    array = as_np_array(inputs[0])
    axis, dtype, keepdims = raw
    mask = operate("_npi_broadcast_to", as_array(where), shape=array.shape)
    if dtype is None and not dtypes.is_inexact(array.dtype_code):
        dtype = dtypes.name_of(default_float(front.has_numpy_types()))
    total = operate("_npi_sum", _masked(array, mask, 0), axis=axis, dtype=dtype, keepdims=keepdims)
    number = operate("_npi_sum", mask, axis=axis, dtype=total.dtype, keepdims=keepdims)
    result = operate("_npi_true_divide", total, number)
    return into(result if dtype is None else result.astype(dtype), out)
