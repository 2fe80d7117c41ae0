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
    """Compute percentiles over axes.

    Parameters
    ----------
    a : array_like
    q : number or array_like
        Percentages in [0, 100]. Axes of an array come first in the result.
    axis : int or tuple of int, optional
        All axes by default.
    out : ndarray, optional
        Array to write the result to.
    overwrite_input : bool, optional
        Ignored.
    interpolation, method : {'linear', 'lower', 'higher', 'midpoint', 'nearest'}
        Interpolation between two elements.
    keepdims : bool
        Keep the reduced axes with extent 1.

    Returns
    -------
    ndarray

    Raises
    ------
    MXNetError
        If a percentage is not in [0, 100], or there are no elements.
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
    """Compute quantiles over axes.

    Parameters
    ----------
    a : array_like
    q : number or array_like
        Probabilities in [0, 1]. Axes of an array come first in the result.
    axis : int or tuple of int, optional
        All axes by default.
    out : ndarray, optional
        Array to write the result to.
    overwrite_input : bool, optional
        Ignored.
    interpolation, method : {'linear', 'lower', 'higher', 'midpoint', 'nearest'}
        Interpolation between two elements.
    keepdims : bool
        Keep the reduced axes with extent 1.

    Returns
    -------
    ndarray

    Raises
    ------
    MXNetError
        If a probability is not in [0, 1], or there are no elements.
    """
    return _percentile(a, q, axis, out, method or interpolation, keepdims, 100)


def median(a, axis=None, out=None, overwrite_input=None, keepdims=False):
    """Compute the median over axes.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        All axes by default.
    out : ndarray, optional
        Array to write the result to.
    overwrite_input : bool, optional
        Ignored.
    keepdims : bool
        Keep the reduced axes with extent 1.

    Returns
    -------
    ndarray
    """
    array = as_np_array(a)
    if is_array(array) and not array.size:  # NaN if empty, as for the mean
        return operate("_npi_mean", array, axis=axis, keepdims=keepdims, out=out)
    return _percentile(array, 50, axis, out, "midpoint", keepdims)
