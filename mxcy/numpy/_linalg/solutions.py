"""Linear systems, inverses and ranks."""

import operator
from collections import namedtuple

from mxcy._base import dtypes
from mxcy._base.errors import InvalidValueError
from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import as_array
from mxcy.numpy._calls.symbolic import is_symbol
from mxcy.numpy._linalg.factors import eigvalsh, svdvals
from mxcy.numpy._linalg.floats import apply, cast, in_floats

__all__ = ["inv", "lstsq", "matrix_rank", "pinv", "solve", "tensorinv", "tensorsolve"]

LstsqResult = namedtuple("LstsqResult", "x residuals rank s")


def _shaped(array, shape):
    return operate("_backward_reshape", array, shape=tuple(shape))


def inv(a):
    """Compute the inverses of square matrices.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    ndarray
    """
    return apply("_linalg_inverse", a)


def solve(a, b):
    """Solve linear systems ``a x = b``.

    Parameters
    ----------
    a : array_like
        Square matrices.
    b : array_like
        A single vector, or matrices.

    Returns
    -------
    ndarray
    """
    return apply("_npi_solve", a, b)


def tensorinv(a, ind=2):
    """Compute the inverse of an array as a linear map with respect to `tensordot`.

    Parameters
    ----------
    a : array_like
    ind : int
        Number of leading axes, the image of the map.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If `ind` is not positive.
    """
    if ind <= 0:
        raise InvalidValueError(f"tensorinv: expected a positive ind, got {ind}")
    return apply("_npi_tensorinv", a, ind=operator.index(ind))


def tensorsolve(a, b, axes=None):
    """Solve ``tensordot(a, x, x.ndim) = b`` for x.

    Parameters
    ----------
    a, b : array_like
    axes : sequence of int, optional
        Axes of `a` to move to the end before solving.

    Returns
    -------
    ndarray
    """
    axes = () if axes is None else tuple(map(operator.index, axes))
    return apply("_npi_tensorsolve", a, b, a_axes=axes)


def _epsilon(code):
    return 2.0**-23 if dtypes.real_of(code) == dtypes.CODES["float32"] else 2.0**-52


def pinv(a, rtol=None, hermitian=False, rcond=None):
    """Compute the (Moore-Penrose) pseudo-inverses of matrices.

    Parameters
    ----------
    a : array_like
    rtol : float or array_like, optional
        Singular values up to `rtol` times the largest count as zero; epsilon-based by default.
    hermitian : bool
        Whether the matrices are Hermitian, which is faster.
    rcond : float, optional
        NumPy's name for `rtol`.

    Returns
    -------
    ndarray
    """
    (a,), code = in_floats(a)
    rtol = rcond if rtol is None else rtol
    if rtol is None and is_symbol(a):
        rtol = 1e-15
    if rtol is None:
        rtol = max(a.shape[-2:], default=1) * _epsilon(a.dtype_code)
    hermitian = bool(hermitian)
    if isinstance(rtol, (int, float)):
        inverse = operate("_npi_pinv_scalar_rcond", a, rcond=float(rtol), hermitian=hermitian)
    else:
        rtol = cast(as_array(rtol), dtypes.real_of(a.dtype_code))
        inverse = operate("_npi_pinv", a, rtol, hermitian=hermitian)
    return cast(inverse, code)


def matrix_rank(M, rtol=None, hermitian=False, tol=None):  # noqa: N803  its public name
    """Compute the rank of matrices: the number of nonzero singular values.

    Parameters
    ----------
    M : array_like
    rtol : float or array_like, optional
        Singular values up to `rtol` times the largest count as zero; epsilon-based by default.
    hermitian : bool
        Whether the matrices are Hermitian, which is faster.
    tol : float or array_like, optional
        Absolute threshold up to which singular values are treated as zero.

    Returns
    -------
    ndarray
        Of int64.
    """
    (array,), _ = in_floats(M)
    if (rtol is None and tol is None) or (not is_symbol(array) and array.ndim < 2):
        rounding = {f"finfoEps{bits}": _epsilon(dtypes.CODES[f"float{bits}"]) for bits in (32, 64)}
        return operate("_npi_matrix_rank_none_tol", array, hermitian=bool(hermitian), **rounding)
    values = operate("_npi_absolute", eigvalsh(array)) if hermitian else svdvals(array)
    if not values.shape[-1]:
        return operate("_npi_sum", values, axis=(-1,), dtype="int64")
    bound = rtol if tol is None else tol
    if not isinstance(bound, (int, float)):
        bound = _shaped(as_array(bound), (*as_array(bound).shape, 1))
    if tol is None:
        bound = operate("_npi_max", values, axis=(-1,), keepdims=True) * bound
    return operate("_npi_sum", values > bound, axis=(-1,), dtype="int64")


def lstsq(a, b, rcond="warn"):
    """Compute the minimum-norm least-squares solution of ``a x = b``.

    Parameters
    ----------
    a : array_like
        A matrix.
    b : array_like
        A vector or a matrix.
    rcond : float, optional
        Singular values up to `rcond` times the largest count as zero; epsilon-based by default.

    Returns
    -------
    LstsqResult
        `x`, the sums of squared `residuals` (empty if `a` does not have full column rank or has no
        more rows than columns), the `rank` of `a` and its singular values `s`.
    """
    (a, b), code = in_floats(a, b)
    if rcond == "warn" or rcond is None or rcond == -1:
        small = _epsilon(a.dtype_code)
        rcond = small if rcond == -1 else max(a.shape, default=1) * small
    vector = b.ndim == 1
    matrix = _shaped(b, (b.size, 1)) if vector else b
    x, residuals, rank, s = operate("_npi_lstsq", a, matrix, rcond=float(rcond))
    if vector:
        x = _shaped(x, x.shape[:1])
    if a.shape[0] <= a.shape[1] or rank.item() < a.shape[1]:
        kind = dtypes.name_of(dtypes.real_of(code))
        residuals = operate("_npi_zeros", shape=(0,), dtype=kind)
    return LstsqResult(cast(x, code), cast(residuals, code), rank, cast(s, code))
