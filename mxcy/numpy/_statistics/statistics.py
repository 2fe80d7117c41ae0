"""Statistics of `mx.np` that are made of other functions."""

import numpy as onp

from mxcy._base import dtypes
from mxcy.numpy._arrays.operators import function
from mxcy.numpy._calls.general import call, given, operate
from mxcy.numpy._calls.handlers import handles
from mxcy.numpy._calls.operands import as_array, as_np_array, is_array, is_complex
from mxcy.numpy._shape.manipulation import concatenate, promoted
from mxcy.ops.core.result_types import default_float

__all__ = [
    "average",
    "bincount",
    "corrcoef",
    "correlate",
    "count_nonzero",
    "cov",
    "histogram",
    "median",
    "percentile",
    "ptp",
    "quantile",
]


def floating(array):
    """An array as one of floating or complex numbers."""
    if dtypes.is_inexact(array.dtype_code):
        return array
    return operate("_npi_true_divide_scalar", array, scalar=1.0, is_int=True)


@handles("std", "var")
def spread(called, inputs, raw, out, keywords):
    """A variance with NumPy's `ddof`, or of the elements that a mask picks."""
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
    found = operate("_npi_sum", far * far, axis=axis, keepdims=True) / (number - ddof)
    if called.name == "std":
        still = found == 0  # where the root has no slope
        found = operate("_npi_sqrt", found + still) * (found != 0)
    if not keepdims:
        axes = tuple(range(array.ndim)) if axis is None else axis
        found = operate("_npi_squeeze", found, axis=axes)
    return given(found, out)


def average(a, axis=None, weights=None, returned=False, out=None, *, keepdims=False):
    """The mean over axes, each element counted by its weight.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        All axes by default.
    weights : array_like, optional
        As many as there are elements, or elements along the axes; equal ones by default.
    returned : bool
        Return the sums of the weights as well.
    out : ndarray, optional
        The array that takes the result.
    keepdims : bool
        Leave the axes in the result, with extent 1.

    Returns
    -------
    ndarray, or a tuple of two
    """
    arrays = [as_np_array(a)] if weights is None else [as_np_array(a), as_array(weights)]
    attrs = {"axis": axis, "returned": returned, "weighted": weights is not None}
    found = operate("_npi_average", *arrays, **attrs)
    results = found if returned else [found]
    if keepdims:
        axes = range(arrays[0].ndim) if axis is None else onp.atleast_1d(axis)
        axes = {int(i) % arrays[0].ndim for i in axes}
        shape = tuple(1 if i in axes else n for i, n in enumerate(arrays[0].shape))
        results = [x.reshape(shape) for x in results]
    results = [given(results[0], out), *results[1:]]
    return tuple(results) if returned else results[0]


def _percentile(a, q, axis, out, method, keepdims, scale=1):
    array = as_np_array(a)
    if isinstance(q, (int, float, onp.generic)):
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
    return _percentile(a, 50, axis, out, "midpoint", keepdims)


def ptp(a, axis=None, out=None, keepdims=False):
    """The largest minus the smallest element over axes.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        All axes by default.
    out : ndarray, optional
        The array that takes the result.
    keepdims : bool
        Leave the axes in the result, with extent 1.

    Returns
    -------
    ndarray
    """
    array = as_np_array(a)
    largest = operate("_npi_max", array, axis=axis, keepdims=keepdims)
    smallest = operate("_npi_min", array, axis=axis, keepdims=keepdims)
    return given(largest - smallest, out)


def count_nonzero(a, axis=None, *, keepdims=False):
    """How many elements over axes are not zero, as int64.

    Parameters
    ----------
    a : array_like
    axis : int or tuple of int, optional
        All axes by default.
    keepdims : bool
        Leave the axes in the result, with extent 1.

    Returns
    -------
    ndarray
    """
    return operate("_npi_sum", as_np_array(a) != 0, axis=axis, keepdims=keepdims, dtype="int64")


def histogram(a, bins=10, range=None, normed=None, weights=None, density=None):
    """Count the elements in intervals: half-open ones, the last one closed.

    Parameters
    ----------
    a : array_like
    bins : int, sequence or str
        The number of equal intervals, their bounds, or the name of a rule of NumPy's.
    range : (float, float), optional
        What the intervals cover; from the smallest to the largest element by default.
    normed : bool, optional
        An old name of `density`.
    weights : array_like, optional
        What each element counts.
    density : bool, optional
        Divide by the widths and the sum of the counts.

    Returns
    -------
    (ndarray, ndarray)
        Counts and bounds.
    """
    array = as_np_array(a)
    density = bool(normed) if density is None else density
    if isinstance(bins, str) or weights is not None or density:
        return _weighed_histogram(array, bins, range, weights, density)
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


def _weighed_histogram(array, bins, range, weights, density):
    plain = weights.asnumpy() if is_array(weights) else weights
    bins = bins.asnumpy() if is_array(bins) else bins
    found, bounds = onp.histogram(array.asnumpy(), bins, range, density, plain)
    kind = dtypes.dtype_of(default_float(False))
    if found.dtype == onp.float64 and array.dtype != onp.float64:
        found = found.astype(kind)
    if array.dtype != onp.float64:
        bounds = bounds.astype(kind)
    return as_np_array(found), as_np_array(bounds)


def bincount(x, weights=None, minlength=0):
    """How often each number from 0 occurs, or the sum of its weights.

    Parameters
    ----------
    x : array_like
        Integers that are not negative, of one dimension.
    weights : array_like, optional
        What each counts.
    minlength : int
        The least length of the result.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        When a number is negative.
    """
    arrays = [as_np_array(x)] if weights is None else [as_np_array(x), as_array(weights)]
    attrs = {"minlength": minlength, "has_weights": weights is not None}
    return operate("_npi_bincount", *arrays, **attrs)


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    """The covariance matrix of variables.

    Parameters
    ----------
    m : array_like
        A variable in each row, an observation in each column.
    y : array_like, optional
        More variables.
    rowvar : bool
        False: variables are columns.
    bias : bool
        Divide by the number of observations in place of one less.
    ddof : int, optional
        What to subtract from the number of observations, whatever `bias` says.
    fweights, aweights : array_like, optional
        How often each observation occurs, and how much it weighs.
    dtype : dtype, optional
        The element type of the result.

    Returns
    -------
    ndarray
    """
    x = _variables(m, rowvar)
    if y is not None:
        x = concatenate(promoted([x, _variables(y, rowvar)]))
    x = floating(x) if dtype is None else x.astype(dtype)
    less = int(not bias) if ddof is None else ddof
    weights = None
    for given_weights in (fweights, aweights):
        if given_weights is not None:
            part = as_np_array(given_weights).astype(x.dtype)
            weights = part if weights is None else weights * part
    if weights is None:
        far = x - x.mean(axis=1, keepdims=True)
        total, weighted = x.shape[1] - less, far
    else:
        whole = weights.sum()
        far = x - ((x * weights).sum(axis=1) / whole).reshape((-1, 1))
        weighted, total = far * weights, whole - less
        if aweights is not None and less:
            total = whole - less * (weights * as_np_array(aweights).astype(x.dtype)).sum() / whole
    found = _product(weighted, far) / total
    return operate("_npi_squeeze", found)


def _variables(m, rowvar):
    x = as_np_array(m)
    if x.ndim > 2:
        raise ValueError(f"cov: expected two dimensions at most, got {x.ndim}")
    if x.ndim < 2:
        return x.reshape((1, -1)) if x.size else x.reshape((1, 0))
    return x if rowvar or x.shape[0] == 1 else x.T


def _product(lhs, rhs):
    """Each row of one array times each row of another."""
    if not lhs.shape[1]:
        return (lhs.reshape((-1, 1, 0)) * rhs).sum(axis=2)
    if is_complex(lhs):
        return lhs @ rhs.conj().T
    return operate("dot", lhs, rhs, transpose_b=True)


def corrcoef(x, y=None, rowvar=True, bias=None, ddof=None, *, dtype=None):
    """The correlation coefficients of variables.

    Parameters
    ----------
    x : array_like
        A variable in each row, an observation in each column.
    y : array_like, optional
        More variables.
    rowvar : bool
        False: variables are columns.
    bias, ddof : optional
        Have no effect.
    dtype : dtype, optional
        The element type of the result.

    Returns
    -------
    ndarray
    """
    matrix = cov(x, y, rowvar, dtype=dtype)
    if matrix.ndim == 0:
        return matrix / matrix
    number = matrix.shape[0]
    diagonal = matrix.reshape((-1,))[:: number + 1]
    spread = operate("_npi_sqrt", diagonal.real)
    found = matrix / spread.reshape((-1, 1)) / spread
    limits = {"a_min": -1.0, "a_max": 1.0}
    if is_complex(found):
        return operate("clip", found.real, **limits) + operate("clip", found.imag, **limits) * 1j
    return operate("clip", found, **limits)


def correlate(a, v, mode="valid"):
    """The cross-correlation of two sequences, the second one conjugated.

    Parameters
    ----------
    a, v : array_like
        Of one dimension.
    mode : {'valid', 'same', 'full'}
        How far they may lie apart.

    Returns
    -------
    ndarray
    """
    a, v = promoted([as_np_array(a), as_np_array(v)])
    if a.ndim != 1 or v.ndim != 1 or not a.size or not v.size:
        raise ValueError("correlate: expected two sequences with elements")
    if mode not in ("valid", "same", "full"):
        raise ValueError(f"correlate: mode must be 'valid', 'same' or 'full', got {mode!r}")
    if a.size < v.size:
        return function("conj")(operate("reverse", correlate(v, a, mode), axis=(0,)))
    before = {"valid": 0, "same": v.size // 2, "full": v.size - 1}[mode]
    after = {"valid": 0, "same": v.size - 1 - v.size // 2, "full": v.size - 1}[mode]
    zeros = operate("_npi_zeros_like", v)
    padded = concatenate([zeros[:before], a, zeros[:after]])
    number = padded.size - v.size + 1
    places = onp.arange(number)[:, None] + onp.arange(v.size)
    found = (padded[places] * function("conj")(v)).sum(axis=1)
    return found.astype(bool) if a.dtype == bool else found
