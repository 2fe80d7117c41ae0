"""`mx.np` reductions that ignore NaN."""

import math

import numpy as onp

from mxcy._base import dtypes
from mxcy.numpy._arrays.operators import function
from mxcy.numpy._calls.general import into, operate
from mxcy.numpy._calls.operands import as_np_array
from mxcy.numpy._statistics.averages import floating

__all__ = [
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmedian",
    "nanmin",
    "nanpercentile",
    "nanprod",
    "nanquantile",
    "nanstd",
    "nansum",
    "nanvar",
]


def _filled(a, value):
    """Replace NaN by a value; also return where NaN was, None for integers."""
    array = as_np_array(a)
    if not dtypes.is_inexact(array.dtype_code):
        return array, None
    missing = operate("_npi_isnan", array)
    attrs = {"scalar": float(value), "is_int": False}
    return operate("_npi_where_lscalar", missing, array, **attrs), missing


def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None):
    """Compute the sum over axes with NaN as 0; parameters as in `sum`."""
    array, _ = _filled(a, 0)
    return function("sum")(array, axis, dtype, out, keepdims, initial, where)


def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None):
    """Compute the product over axes with NaN as 1; parameters as in `prod`."""
    array, _ = _filled(a, 1)
    return function("prod")(array, axis, dtype, out, keepdims, initial, where)


def nancumsum(a, axis=None, dtype=None, out=None):
    """Compute the cumulative sum with NaN as 0; parameters as in `cumsum`."""
    return function("cumsum")(_filled(a, 0)[0], axis, dtype, out)


def nancumprod(a, axis=None, dtype=None, out=None):
    """Compute the cumulative product with NaN as 1; parameters as in `cumprod`."""
    return function("cumprod")(_filled(a, 1)[0], axis, dtype, out)


def _or_nan(missing, result):
    """Return a result with NaN where all elements were NaN."""
    return operate("_npi_where_lscalar", missing, result, scalar=math.nan, is_int=False)


def _extremum(name, limit, a, axis, out, keepdims, initial, where):
    array, missing = _filled(a, limit)
    result = function(name)(array, axis, None, keepdims, initial, where)
    if missing is not None and initial is None:
        none = operate("_npi_all", missing, axis=axis, keepdims=keepdims)
        result = _or_nan(none, result)
    return into(result, out)


def nanmax(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    """Compute the maximum over axes ignoring NaN; NaN if all elements are."""
    return _extremum("max", -math.inf, a, axis, out, keepdims, initial, where)


def nanmin(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    """Compute the minimum over axes ignoring NaN; NaN if all elements are."""
    return _extremum("min", math.inf, a, axis, out, keepdims, initial, where)


def _position(name, limit, a, axis, out, keepdims):
    array, missing = _filled(a, limit)
    if missing is not None and operate("_npi_all", missing, axis=axis).asnumpy().any():
        raise ValueError(f"nan{name}: all elements of a slice are NaN")
    return function(name)(array, axis, out, keepdims)


def nanargmax(a, axis=None, out=None, *, keepdims=False):
    """Return the int64 index of the maximum ignoring NaN.

    Raises
    ------
    ValueError
        If all elements of a slice are NaN.
    """
    return _position("argmax", -math.inf, a, axis, out, keepdims)


def nanargmin(a, axis=None, out=None, *, keepdims=False):
    """Return the int64 index of the minimum ignoring NaN.

    Raises
    ------
    ValueError
        If all elements of a slice are NaN.
    """
    return _position("argmin", math.inf, a, axis, out, keepdims)


def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=None):
    """Compute the mean over axes ignoring NaN; parameters as in `mean`."""
    array = as_np_array(a)
    return function("mean")(array, axis, dtype, out, keepdims, _picked(array, where))


def _picked(array, where):
    """Return the mask of the elements to use; None for all."""
    if not dtypes.is_inexact(array.dtype_code):
        return where
    mask = operate("_npi_logical_not", operate("_npi_isnan", array))
    return mask if where is None or where is True else mask & as_np_array(where)


def _spread(name, a, axis, dtype, out, ddof, keepdims, where):
    array = as_np_array(a)
    mask = _picked(array, where)
    if mask is None:
        return function(name)(array, axis, dtype, out, ddof, keepdims)
    result = function(name)(array, axis, dtype, None, ddof, keepdims, where=mask)
    number = operate("_npi_sum", mask, axis=axis, keepdims=keepdims)
    return into(_or_nan(number <= ddof, result), out)


def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None):
    """Compute the variance over axes ignoring NaN; parameters as in `var`."""
    return _spread("var", a, axis, dtype, out, ddof, keepdims, where)


def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None):
    """Compute the standard deviation over axes ignoring NaN; parameters as in `std`."""
    return _spread("std", a, axis, dtype, out, ddof, keepdims, where)


_SHARES = {
    "linear": lambda place, order: function("maximum")(1 - abs(place - order), 0.0),
    "lower": lambda place, order: function("floor")(place) == order,
    "higher": lambda place, order: function("ceil")(place) == order,
    "nearest": lambda place, order: function("rint")(place) == order,
    "midpoint": lambda place, order: (
        (function("floor")(place) == order) * 0.5 + (function("ceil")(place) == order) * 0.5
    ),
}


def nanquantile(
    a,
    q,
    axis=None,
    out=None,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    *,
    interpolation=None,
):
    """Compute quantiles over axes ignoring NaN; parameters as in `quantile`.

    Raises
    ------
    ValueError
        If a probability is not in [0, 1], or the method is unknown.
    """
    method = interpolation or method
    if method not in _SHARES:
        raise ValueError(f"method: expected one of {', '.join(_SHARES)}, got {method!r}")
    array = floating(as_np_array(a))
    shares = onp.asarray(
        as_np_array(q).astype("float64").asnumpy() if not isinstance(q, float) else q
    )
    if not ((shares >= 0) & (shares <= 1)).all():
        raise ValueError("quantiles must be in [0, 1]")
    axes = range(array.ndim) if axis is None else onp.atleast_1d(axis)
    axes = [int(i) % array.ndim for i in axes]
    kept_axes = [i for i in range(array.ndim) if i not in axes]
    number = math.prod(array.shape[i] for i in axes)
    kept = tuple(array.shape[i] for i in kept_axes)
    rows = array.transpose(*kept_axes, *axes) if array.ndim else array
    rows = function("sort")(rows.reshape((math.prod(kept), number)), -1)
    quantiles = _between(rows, shares.reshape(-1), _SHARES[method]).astype(array.dtype)
    if keepdims:
        kept = tuple(1 if i in axes else n for i, n in enumerate(array.shape))
    return into(quantiles.reshape((*shares.shape, *kept)), out)


def _between(rows, shares, share):
    """Return the quantiles (shares, rows) of sorted rows with NaN at their ends."""
    values, missing = _filled(rows, 0)
    extent = rows.shape[1]
    numbers = operate("_npi_sum", missing, axis=-1, dtype="float64") * -1.0 + extent
    place = (numbers - 1).reshape((1, -1, 1)) * as_np_array(shares).reshape((-1, 1, 1))
    parts = share(place, as_np_array(onp.arange(extent, dtype="float64"))).astype(rows.dtype)
    products = values * parts
    products = operate("_npi_where_rscalar", parts > 0, products, scalar=0.0, is_int=False)
    return _or_nan(numbers == 0, products.sum(axis=-1))


def nanpercentile(
    a,
    q,
    axis=None,
    out=None,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    *,
    interpolation=None,
):
    """Compute percentiles over axes ignoring NaN; parameters as in `percentile`."""
    shares = (
        as_np_array(onp.asarray(q, "float64")) / 100 if not hasattr(q, "dtype_code") else q / 100.0
    )
    return nanquantile(a, shares, axis, out, overwrite_input, interpolation or method, keepdims)


def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """Compute the median over axes ignoring NaN; parameters as in `median`."""
    return nanquantile(a, 0.5, axis, out, overwrite_input, "midpoint", keepdims)
