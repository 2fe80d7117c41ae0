"""Covariance, correlation and convolution."""

import numpy as onp

from mxcy._library import front
from mxcy.numpy._arrays.operators import function
from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import as_np_array, from_onp, is_complex
from mxcy.numpy._shape.manipulation import concatenate, promoted
from mxcy.numpy._statistics.averages import floating

__all__ = ["convolve", "corrcoef", "correlate", "cov"]


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    """Estimate the covariance matrix of variables.

    Parameters
    ----------
    m : array_like
        One variable per row, one observation per column.
    y : array_like, optional
        Additional variables.
    rowvar : bool
        If False, variables are columns.
    bias : bool
        Normalise by the number of observations N instead of N - 1.
    ddof : int, optional
        Normalise by N - ddof; overrides `bias`.
    fweights, aweights : array_like, optional
        Integer frequencies and relative weights of the observations.
    dtype : dtype, optional
        Dtype of the result.

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
        centred = x - x.mean(axis=1, keepdims=True)
        total, weighted = x.shape[1] - less, centred
    else:
        weight_sum = weights.sum()
        centred = x - ((x * weights).sum(axis=1) / weight_sum).reshape((-1, 1))
        weighted, total = centred * weights, weight_sum - less
        if aweights is not None and less:
            total = (
                weight_sum
                - less * (weights * as_np_array(aweights).astype(x.dtype)).sum() / weight_sum
            )
    matrix = _product(weighted, centred) / total
    return operate("_npi_squeeze", matrix)


def _variables(m, rowvar):
    x = as_np_array(m)
    if x.ndim > 2:
        raise ValueError(f"cov: expected two dimensions at most, got {x.ndim}")
    if x.ndim < 2:
        return x.reshape((1, -1)) if x.size else x.reshape((1, 0))
    return x if rowvar or x.shape[0] == 1 else x.T


def _product(lhs, rhs):
    """Multiply each row of one array with each row of another."""
    if not lhs.shape[1]:
        return (lhs.reshape((-1, 1, 0)) * rhs).sum(axis=2)
    if is_complex(lhs):
        return lhs @ rhs.conj().T
    return operate("dot", lhs, rhs, transpose_b=True)


def corrcoef(x, y=None, rowvar=True, bias=None, ddof=None, *, dtype=None):
    """Compute the Pearson correlation coefficients of variables.

    Parameters
    ----------
    x : array_like
        One variable per row, one observation per column.
    y : array_like, optional
        Additional variables.
    rowvar : bool
        If False, variables are columns.
    bias, ddof : optional
        Ignored.
    dtype : dtype, optional
        Dtype of the result.

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
    scaled = matrix / spread.reshape((-1, 1)) / spread
    limits = {"a_min": -1.0, "a_max": 1.0}
    if is_complex(scaled):
        return operate("clip", scaled.real, **limits) + operate("clip", scaled.imag, **limits) * 1j
    return operate("clip", scaled, **limits)


def correlate(a, v, mode="valid"):
    """Compute the cross-correlation of two 1-D sequences, conjugating the second.

    Parameters
    ----------
    a, v : array_like
        1-D sequences.
    mode : {'valid', 'same', 'full'}
        Overlaps to include; see `convolve`.

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
    if a.dtype.name in ("float32", "float64") and not front.is_taping():
        return from_onp(onp.correlate(a.asnumpy(), v.asnumpy(), mode))
    zeros = operate("_npi_zeros_like", v)
    padded = concatenate([zeros[:before], a, zeros[:after]])
    number = padded.size - v.size + 1
    places = onp.arange(number)[:, None] + onp.arange(v.size)
    result = (padded[places] * function("conj")(v)).sum(axis=1)
    return result.astype(bool) if a.dtype == bool else result


def convolve(a, v, mode="full"):
    """Compute the discrete convolution of two 1-D sequences.

    Parameters
    ----------
    a, v : array_like
        1-D sequences.
    mode : {'full', 'same', 'valid'}
        All overlaps, the central ones (length of the longer input), or complete overlaps only.

    Returns
    -------
    ndarray
    """
    a, v = as_np_array(a), as_np_array(v)
    if a.size < v.size:
        a, v = v, a
    return correlate(a, function("conj")(operate("reverse", v, axis=(0,))) if v.ndim else v, mode)
