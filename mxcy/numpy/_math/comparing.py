"""Comparisons within a tolerance and of whole arrays."""

from mxcy._base import dtypes
from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import as_np_array
from mxcy.numpy._shape.manipulation import promoted

__all__ = ["allclose", "array_equal", "array_equiv", "isclose"]


def _comparable(a, b):
    """Cast two arrays to an inexact dtype, whose differences do not wrap around."""
    pair = promoted([as_np_array(a), as_np_array(b)])
    if not dtypes.is_inexact(pair[0].dtype_code):
        pair = [operate("Cast", x, dtype="float64") for x in pair]
    return [x.as_np_ndarray() for x in pair]


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Return elementwise whether ``abs(a - b) <= atol + rtol * abs(b)``.

    Parameters
    ----------
    a, b : array_like
    rtol, atol : float
    equal_nan : bool
        Treat NaNs as equal.

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
    """Return whether ``abs(a - b) <= atol + rtol * abs(b)`` for all elements.

    Parameters
    ----------
    a, b : array_like
    rtol, atol : float
    equal_nan : bool
        Treat NaNs as equal.

    Returns
    -------
    bool
    """
    return bool(isclose(a, b, rtol, atol, equal_nan).all().item())


def array_equal(a1, a2, equal_nan=False):
    """Return whether two arrays have the same shape and elements.

    Parameters
    ----------
    a1, a2 : array_like
    equal_nan : bool
        Treat NaNs as equal.

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
    """Return whether two arrays are equal after broadcasting one to the shape of the other.

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
