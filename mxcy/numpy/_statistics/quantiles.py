"""Quantiles."""

import numpy as onp

from mxcy._base.errors import InvalidValueError
from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import as_array, as_np_array, is_array

__all__ = ["median", "percentile", "quantile"]


def _percentile(a, q, axis, out, method, keepdims, scale=1):
    array = as_np_array(a)
    if isinstance(q, (int, float, onp.generic)):
        if scale != 1 and not 0 <= q <= 1:
            raise InvalidValueError(f"quantiles must be in [0, 1], got {q}")
        attrs = {"q_scalar": float(q) * scale}
        return operate(
            "_npi_percentile",
            array,
            axis=axis,
            interpolation=method,
            keepdims=keepdims,
            out=out,
            **attrs,
        )
    q = as_array(q)
    if scale != 1:
        q = q * scale
    return operate(
        "_npi_percentile", array, q, axis=axis, interpolation=method, keepdims=keepdims, out=out
    )


def percentile(
    a,
    q,
    axis=None,
    out=None,
    overwrite_input=None,
    interpolation="linear",
    keepdims=False,
    method=None,
):
    """The values below which so many percent of the elements over axes lie.

    Parameters
    ----------
    a : array_like
    q : number or array_like
        Percentages. The dimensions of an array come first in the result.
    axis : int or tuple of int, optional
        All axes by default.
    out : ndarray, optional
        The array that takes the result.
    overwrite_input : bool, optional
        Has no effect.
    interpolation, method : {'linear', 'lower', 'higher', 'midpoint', 'nearest'}
        What to do between two elements.
    keepdims : bool
        Leave the axes in the result, with extent 1.

    Returns
    -------
    ndarray

    Raises
    ------
    MXNetError
        When a percentage is not in [0, 100], or there are no elements.
    """
    return _percentile(a, q, axis, out, method or interpolation, keepdims)


def quantile(
    a,
    q,
    axis=None,
    out=None,
    overwrite_input=None,
    interpolation="linear",
    keepdims=False,
    method=None,
):
    """The values below which such a share of the elements over axes lies.

    Parameters
    ----------
    a : array_like
    q : number or array_like
        Shares, from 0 to 1. The dimensions of an array come first in the result.
    axis : int or tuple of int, optional
        All axes by default.
    out : ndarray, optional
        The array that takes the result.
    overwrite_input : bool, optional
        Has no effect.
    interpolation, method : {'linear', 'lower', 'higher', 'midpoint', 'nearest'}
        What to do between two elements.
    keepdims : bool
        Leave the axes in the result, with extent 1.

    Returns
    -------
    ndarray

    Raises
    ------
    MXNetError
        When a share is not in [0, 1], or there are no elements.
    """
    return _percentile(a, q, axis, out, method or interpolation, keepdims, 100)


def median(a, axis=None, out=None, overwrite_input=None, keepdims=False):
    """The value in the middle of the elements over axes, or the mean of the two there.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        All axes by default.
    out : ndarray, optional
        The array that takes the result.
    overwrite_input : bool, optional
        Has no effect.
    keepdims : bool
        Leave the axes in the result, with extent 1.

    Returns
    -------
    ndarray
    """
    array = as_np_array(a)
    if is_array(array) and not array.size:  # of no elements NaN, as their mean
        return operate("_npi_mean", array, axis=axis, keepdims=keepdims, out=out)
    return _percentile(array, 50, axis, out, "midpoint", keepdims)
