"""Comparisons of whole arrays of `mx.np`, and up to a tolerance."""

from mxcy._base import dtypes
from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import as_np_array
from mxcy.numpy._shape.manipulation import promoted

__all__ = ["allclose", "array_equal", "array_equiv", "isclose"]


def _comparable(a, b):
    """Two arrays in a floating or complex type in which differences do not wrap around."""
    pair = promoted([as_np_array(a), as_np_array(b)])
    if not dtypes.is_inexact(pair[0].dtype_code):
        pair = [operate("Cast", x, dtype="float64") for x in pair]
    return [x.as_np_ndarray() for x in pair]


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether elements differ by no more than ``atol + rtol * abs(b)``.

    Parameters
    ----------
    a, b : array_like
    rtol, atol : float
    equal_nan : bool
        Take NaN for equal to NaN.

    Returns
    -------
    ndarray
        Booleans.
    """
    a, b = _comparable(a, b)
    finite = operate("_npi_isfinite", a) & operate("_npi_isfinite", b)
    close = ((abs(a - b) <= abs(b) * rtol + atol) & finite) | (a == b)
    if equal_nan:
        close = close | (operate("_npi_isnan", a) & operate("_npi_isnan", b))
    return close


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements differ by no more than ``atol + rtol * abs(b)``.

    Parameters
    ----------
    a, b : array_like
    rtol, atol : float
    equal_nan : bool
        Take NaN for equal to NaN.

    Returns
    -------
    bool
    """
    return bool(isclose(a, b, rtol, atol, equal_nan).all().item())


def array_equal(a1, a2, equal_nan=False):
    """Whether two arrays have one shape and equal elements.

    Parameters
    ----------
    a1, a2 : array_like
    equal_nan : bool
        Take NaN for equal to NaN.

    Returns
    -------
    bool
    """
    a1, a2 = as_np_array(a1), as_np_array(a2)
    return a1.shape == a2.shape and _all_equal(a1, a2, equal_nan)


def _all_equal(a1, a2, equal_nan=False):
    equal = a1 == a2
    if equal_nan:
        equal = equal | ((a1 != a1) & (a2 != a2))
    return bool(equal.all().item())


def array_equiv(a1, a2):
    """Whether elements are equal where one array is broadcast to the shape of the other.

    Parameters
    ----------
    a1, a2 : array_like

    Returns
    -------
    bool
    """
    a1, a2 = as_np_array(a1), as_np_array(a2)
    shorter, longer = sorted((a1.shape, a2.shape), key=len)
    ends = longer[len(longer) - len(shorter) :]
    fits = all(m == n or 1 in (m, n) for m, n in zip(shorter, ends, strict=True))
    return fits and _all_equal(a1, a2)
