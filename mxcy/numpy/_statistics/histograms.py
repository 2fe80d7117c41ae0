"""Histograms and counts."""

import numpy as onp

from mxcy._base import dtypes
from mxcy._library import front
from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import as_array, as_np_array, from_onp, is_array
from mxcy.numpy._statistics.averages import floating
from mxcy.ops.core.result_types import default_float

__all__ = ["bincount", "histogram"]


def histogram(a, bins=10, range=None, normed=None, weights=None, density=None):
    """Compute a histogram; bins are half-open except for the last, which is closed.

    Parameters
    ----------
    a : array_like
    bins : int, sequence or str
        Number of equal-width bins, their edges, or the name of one of NumPy's bin rules.
    range : (float, float), optional
        Range of the bins; by default from the smallest to the largest element.
    normed : bool, optional
        Older name of `density`.
    weights : array_like, optional
        Weight of each element.
    density : bool, optional
        Return the probability density instead of counts.

    Returns
    -------
    (ndarray, ndarray)
        Histogram values and bin edges.
    """
    array = as_np_array(a)
    density = bool(normed) if density is None else density
    if isinstance(bins, str) or weights is not None or density:
        return _weighted_histogram(array, bins, range, weights, density)
    if isinstance(bins, int):
        low, high = _reach(array) if range is None else range
        if low == high:
            low, high = low - 0.5, high + 0.5
        if not dtypes.is_float(array.dtype_code):
            array = floating(array)
        bounds = (float(low), float(high))
        return tuple(operate("_histogram", array, bin_cnt=bins, range=bounds))
    return tuple(operate("_histogram", array, as_array(bins)))


def _reach(array):
    return (array.min().item(), array.max().item()) if array.size else (0.0, 1.0)


def _weighted_histogram(array, bins, range, weights, density):
    plain = weights.asnumpy() if is_array(weights) else weights
    bins = bins.asnumpy() if is_array(bins) else bins
    counts, bounds = onp.histogram(array.asnumpy(), bins, range, density, plain)
    if front.has_numpy_types():
        return as_np_array(counts), as_np_array(bounds)
    kind = dtypes.dtype_of(default_float(False))
    if counts.dtype == onp.float64 and array.dtype != onp.float64:
        counts = counts.astype(kind)
    if array.dtype != onp.float64:
        bounds = bounds.astype(kind)
    return as_np_array(counts), as_np_array(bounds)


@front.shortcut
def bincount(x, weights=None, minlength=0):
    """Count the occurrences of each non-negative integer, or sum their weights.

    Parameters
    ----------
    x : array_like
        Non-negative integers, 1-D.
    weights : array_like, optional
        Weight of each element.
    minlength : int
        Minimum length of the result.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If an element is negative.
    """
    arrays = [as_np_array(x)] if weights is None else [as_np_array(x), as_array(weights)]
    if weights is not None and not front.is_taping():
        numbers, shares = (array.asnumpy() for array in arrays)
        if numbers.dtype.kind in "iu" and shares.dtype.name in ("float32", "float64"):
            counts = onp.bincount(numbers.astype("int64", copy=False), shares, minlength)
            return from_onp(counts.astype(shares.dtype, copy=False))
    attrs = {"minlength": minlength, "has_weights": weights is not None}
    return operate("_npi_bincount", *arrays, **attrs)
