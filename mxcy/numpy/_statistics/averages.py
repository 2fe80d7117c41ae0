"""`mx.np` averages, variances and counts."""

import numpy as onp

from mxcy._base import dtypes
from mxcy._library import front
from mxcy.numpy._calls.general import call, into, operate
from mxcy.numpy._calls.handlers import handles
from mxcy.numpy._calls.operands import as_array, as_np_array

__all__ = ["average", "count_nonzero", "ptp"]


def floating(array):
    """Cast an array to a floating-point or complex dtype, if it is neither."""
    if dtypes.is_inexact(array.dtype_code):
        return array
    return operate("_npi_true_divide_scalar", array, scalar=1.0, is_int=True)


@handles("std", "var")
def spread(called, inputs, raw, out, keywords):
    """Handle `ddof` and `where` of `var` and `std`."""
    ddof, where = keywords.pop("ddof", None), keywords.pop("where", None)
    axis, dtype, correction, keepdims = raw
    ddof = correction if ddof is None else ddof
    if where is None or where is True:
        return call(called, inputs, (axis, dtype, ddof, keepdims), out, keywords)
    array = as_np_array(inputs[0])
    array = floating(array) if dtype is None else array.astype(dtype)
    mask = operate("_npi_broadcast_to", as_array(where), shape=array.shape)
    real = dtypes.real_of(array.dtype_code)
    number = operate("_npi_sum", mask, axis=axis, dtype=dtypes.name_of(real), keepdims=True)
    zeros = operate("_npi_zeros_like", array)
    total = operate("_npi_sum", operate("_npi_where", mask, array, zeros), axis=axis, keepdims=True)
    far = operate("_npi_where", mask, array - total / number, zeros)
    far = abs(far) if array.dtype.kind == "c" else far
    variance = operate("_npi_sum", far * far, axis=axis, keepdims=True)
    variance = variance / operate("_npi_maximum", number - ddof, operate("_npi_zeros_like", number))
    if called.name == "std":
        still = variance == 0  # the root is not differentiable at 0
        variance = operate("_npi_sqrt", variance + still) * (variance != 0)
    if not keepdims:
        axes = tuple(range(array.ndim)) if axis is None else axis
        variance = operate("_npi_squeeze", variance, axis=axes)
    return into(variance, out)


def average(a, axis=None, weights=None, returned=False, out=None, *, keepdims=False):
    """Compute the weighted average over axes.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        All axes by default.
    weights : array_like, optional
        Weights with the shape of `a` or of the axes; uniform by default.
    returned : bool
        Also return the sums of the weights.
    out : ndarray, optional
        Array to write the result to.
    keepdims : bool
        Keep the reduced axes with extent 1.

    Returns
    -------
    ndarray, or a tuple of two
    """
    arrays = [as_np_array(a)] if weights is None else [as_np_array(a), as_array(weights)]
    attrs = {"axis": axis, "returned": returned, "weighted": weights is not None}
    mean = operate("_npi_average", *arrays, **attrs)
    results = mean if returned else [mean]
    if keepdims:
        axes = range(arrays[0].ndim) if axis is None else onp.atleast_1d(axis)
        axes = {int(i) % (arrays[0].ndim or 1) for i in axes}
        shape = tuple(1 if i in axes else n for i, n in enumerate(arrays[0].shape))
        results = [x.reshape(shape) for x in results]
    results = [into(results[0], out), *results[1:]]
    return tuple(results) if returned else results[0]


def ptp(a, axis=None, out=None, keepdims=False):
    """Compute the peak-to-peak range (maximum - minimum) over axes.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        All axes by default.
    out : ndarray, optional
        Array to write the result to.
    keepdims : bool
        Keep the reduced axes with extent 1.

    Returns
    -------
    ndarray
    """
    array = as_np_array(a)
    largest = operate("_npi_max", array, axis=axis, keepdims=keepdims)
    smallest = operate("_npi_min", array, axis=axis, keepdims=keepdims)
    return into(largest - smallest, out)


@front.shortcut
def count_nonzero(a, axis=None, *, keepdims=False):
    """Count the nonzero elements over axes, as int64.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        All axes by default.
    keepdims : bool
        Keep the reduced axes with extent 1.

    Returns
    -------
    ndarray
    """
    return operate("_npi_sum", as_np_array(a) != 0, axis=axis, keepdims=keepdims, dtype="int64")
