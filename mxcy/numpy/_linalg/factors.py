"""Factors, inverses and solutions: functions of `mx.np.linalg` over operators that factor."""

import operator
from collections import namedtuple

from mxcy._base import dtypes
from mxcy._library import front
from mxcy.numpy._calls import general, symbolic
from mxcy.numpy._calls.general import operate
from mxcy.numpy._calls.operands import as_array, as_np_array
from mxcy.numpy._calls.symbolic import is_symbol
from mxcy.ops.core.result_types import promote

__all__ = [
    "cholesky",
    "det",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
]

EighResult = namedtuple("EighResult", "eigenvalues eigenvectors")
EigResult = namedtuple("EigResult", "eigenvalues eigenvectors")
LstsqResult = namedtuple("LstsqResult", "x residuals rank s")
QRResult = namedtuple("QRResult", "Q R")
SlogdetResult = namedtuple("SlogdetResult", "sign logabsdet")
SVDResult = namedtuple("SVDResult", "U S Vh")

_SINGLE = dtypes.CODES["float32"]
_COMPUTED = {dtypes.CODES[name] for name in ("float32", "float64", "complex64", "complex128")}


def cast(array, code):
    """A result in another floating type; complex numbers and their parts stay as they are.

    None for no other type.
    """
    if code is None or array.dtype_code == code:
        return array
    if dtypes.is_complex(array.dtype_code) or dtypes.is_complex(code):
        return array
    return general.cast(array, code)


def in_floats(*operands):
    """Operands in the floating or complex type in which they meet, and the type of the results.

    16 bits are computed in 32, integers in 64.
    """
    arrays = [as_array(operand) for operand in operands]
    if symbolic.any_symbols(arrays):  # whose types nobody knows yet
        return arrays, None
    result = promote(front.has_numpy_types(), *(array.dtype_code for array in arrays))
    if not dtypes.is_inexact(result):
        result = dtypes.CODES["float64"]
    computed = result if result in _COMPUTED else _SINGLE
    return [
        array if array.dtype_code == computed else general.cast(array, computed) for array in arrays
    ], result


def _shaped(array, shape):
    return operate("_backward_reshape", array, shape=tuple(shape))


def _apply(name, *operands, **attrs):
    """The single result of an operator over floating types."""
    arrays, code = in_floats(*operands)
    return cast(operate(name, *arrays, **attrs), code)


def _several(kind, name, *operands, **attrs):
    """The results of an operator over floating types, as a named tuple."""
    arrays, code = in_floats(*operands)
    return kind(*(cast(found, code) for found in operate(name, *arrays, **attrs)))


def cholesky(a, upper=False):
    """The Cholesky factors L of positive definite matrices: ``a = L L^H``.

    Parameters
    ----------
    a : array_like
        Only one triangle is read.
    upper : bool
        Give U with ``a = U^H U``, from the upper triangles.

    Returns
    -------
    ndarray
    """
    return _apply("_npi_cholesky", a, lower=not upper)


def det(a):
    """The determinants of square matrices.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    ndarray
    """
    return _apply("_mx_det", a)


def slogdet(a):
    """The signs of determinants and the logarithms of their magnitudes.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    SlogdetResult
        `sign` and `logabsdet`.
    """
    return _several(SlogdetResult, "_mx_slogdet", a)


def inv(a):
    """The inverses of square matrices.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    ndarray
    """
    return _apply("_linalg_inverse", a)


def solve(a, b):
    """The solutions x of linear systems ``a x = b``.

    Parameters
    ----------
    a : array_like
        Square matrices.
    b : array_like
        One vector, or matrices.

    Returns
    -------
    ndarray
    """
    return _apply("_npi_solve", a, b)


def tensorinv(a, ind=2):
    """The inverse of an array as the linear map that `tensordot` makes of it.

    Parameters
    ----------
    a : array_like
    ind : int
        How many of the first axes the map leads to.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        When `ind` is not positive.
    """
    if ind <= 0:
        raise ValueError(f"tensorinv: expected a positive ind, got {ind}")
    return _apply("_npi_tensorinv", a, ind=operator.index(ind))


def tensorsolve(a, b, axes=None):
    """The solution x of ``tensordot(a, x, x.ndim) = b``.

    Parameters
    ----------
    a, b : array_like
    axes : sequence of int, optional
        Axes of `a` that are moved to its end first.

    Returns
    -------
    ndarray
    """
    axes = () if axes is None else tuple(map(operator.index, axes))
    return _apply("_npi_tensorsolve", a, b, a_axes=axes)


def qr(a, mode="reduced"):
    """Factors ``a = Q R`` with orthonormal columns of Q and upper triangular R.

    Parameters
    ----------
    a : array_like
    mode : {'reduced', 'complete', 'r'}
        Whether Q is square, or not wanted.

    Returns
    -------
    QRResult
        `Q` and `R`; with ``'r'`` only R.

    Raises
    ------
    NotImplementedError
        For other modes.
    """
    if mode not in ("reduced", "complete", "r"):
        raise NotImplementedError(f"qr: mode must be 'reduced', 'complete' or 'r', got {mode!r}")
    found = _several(QRResult, "_npi_qr", a, complete=mode == "complete")
    return found.R if mode == "r" else found


def svd(a, full_matrices=None, compute_uv=True, hermitian=False):
    """Singular values and vectors: ``a = U diag(S) Vh``.

    Parameters
    ----------
    a : array_like
    full_matrices : bool, optional
        Whether U and Vh are square; by default so with NumPy's types only.
    compute_uv : bool
        Whether U and Vh are wanted.
    hermitian : bool
        Has no effect: what is symmetric is treated as other matrices.

    Returns
    -------
    SVDResult or ndarray
        `U`, `S` (largest first) and `Vh`; only S without `compute_uv`.
    """
    if not compute_uv:
        return svdvals(a)
    full = front.has_numpy_types() if full_matrices is None else bool(full_matrices)
    return _several(SVDResult, "_npi_svd", a, full_matrices=full)


def svdvals(a):
    """The singular values of matrices, largest first.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    ndarray
    """
    return svd(a, False).S


def eigh(a, upper=False, UPLO=None):  # noqa: N803  its public name
    """Eigenvalues, ascending, and eigenvectors (in columns) of symmetric or Hermitian matrices.

    Parameters
    ----------
    a : array_like
    upper : bool or {'L', 'U'}
        Which triangle is read.
    UPLO : {'L', 'U'}, optional
        The same by the name that NumPy has.

    Returns
    -------
    EighResult
        `eigenvalues` and `eigenvectors`.
    """
    upper = upper if UPLO is None else UPLO
    triangle = upper if isinstance(upper, str) else "U" if upper else "L"
    return _several(EighResult, "_npi_eigh", a, UPLO=triangle)


def eigvalsh(a, upper=False, UPLO=None):  # noqa: N803  its public name
    """The eigenvalues of symmetric or Hermitian matrices, ascending.

    Parameters
    ----------
    a : array_like
    upper : bool or {'L', 'U'}
        Which triangle is read.
    UPLO : {'L', 'U'}, optional
        The same by the name that NumPy has.

    Returns
    -------
    ndarray
    """
    upper = upper if UPLO is None else UPLO
    triangle = upper if isinstance(upper, str) else "U" if upper else "L"
    return _apply("_npi_eigvalsh", a, UPLO=triangle)


def eig(a):
    """Eigenvalues and eigenvectors (in columns) of square matrices.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    EigResult
        `eigenvalues` and `eigenvectors`, without gradient. They are complex with NumPy's types,
        and of complex matrices; else real, with an error where one is not.
    """
    return _several(EigResult, "_npi_eig", a)


def eigvals(a):
    """The eigenvalues of square matrices, of the types that `eig` gives.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    ndarray
        Without gradient.
    """
    return _apply("_npi_eigvals", a)


def _epsilon(code):
    return 2.0**-23 if dtypes.real_of(code) == _SINGLE else 2.0**-52


def pinv(a, rtol=None, hermitian=False, rcond=None):
    """The pseudo-inverses of matrices.

    Parameters
    ----------
    a : array_like
    rtol : float or array_like, optional
        Singular values up to this part of the largest count as zero; by default rounding decides.
    hermitian : bool
        Whether the matrices are symmetric, which is quicker.
    rcond : float, optional
        `rtol` by the name that NumPy has.

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
        found = operate("_npi_pinv_scalar_rcond", a, rcond=float(rtol), hermitian=hermitian)
    else:
        rtol = cast(as_array(rtol), dtypes.real_of(a.dtype_code))
        found = operate("_npi_pinv", a, rtol, hermitian=hermitian)
    return cast(found, code)


def matrix_rank(M, rtol=None, hermitian=False, tol=None):  # noqa: N803  its public name
    """How many singular values of each matrix are not zero.

    Parameters
    ----------
    M : array_like
    rtol : float or array_like, optional
        Singular values up to this part of the largest count as zero; by default rounding decides.
    hermitian : bool
        Whether the matrices are symmetric, which is quicker.
    tol : float or array_like, optional
        Singular values up to this count as zero, however large the largest.

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
    """The smallest x for which ``a x`` is nearest to `b`.

    Parameters
    ----------
    a : array_like
        A matrix.
    b : array_like
        A vector or a matrix.
    rcond : float, optional
        Singular values up to this part of the largest count as zero; by default rounding decides.

    Returns
    -------
    LstsqResult
        `x`, the squared distances `residuals` (empty where `a` has not full column rank, or no more
        rows than columns), the `rank` of `a` and its singular values `s`.
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


def matrix_power(a, n):
    """Powers of square matrices.

    Parameters
    ----------
    a : array_like
    n : int
        Negative ones are powers of the inverses.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        When the matrices are not square.
    """
    a, n = as_np_array(a), operator.index(n)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"matrix_power: expected square matrices, got shape {a.shape}")
    if n == 0:
        unit = operate("_npi_eye", N=a.shape[-1], dtype=dtypes.name_of(a.dtype_code))
        return operate("_npi_broadcast_to", unit, shape=a.shape)
    square, found = inv(a) if n < 0 else a, None
    n = abs(n)
    while n:
        if n & 1:
            found = square if found is None else operate("_npi_matmul", found, square)
        n >>= 1
        square = operate("_npi_matmul", square, square) if n else square
    return found


def multi_dot(arrays, *, out=None):
    """The product of matrices, in the order that takes the fewest multiplications.

    Parameters
    ----------
    arrays : sequence of array_like
        The first and the last may be vectors.
    out : ndarray, optional
        The array that takes the result.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        When there are less than two.
    """
    arrays = list(map(as_array, arrays))
    if len(arrays) < 2:
        raise ValueError("multi_dot: expected at least two arrays")
    vector = arrays[0].ndim == 1
    extents = [1 if vector else arrays[0].shape[0]]
    extents += [x.shape[0] for x in arrays[1:]]
    extents.append(1 if arrays[-1].ndim == 1 else arrays[-1].shape[-1])
    splits = _splits(extents)

    def product(first, last):
        if first == last:
            return arrays[first]
        at = splits[first, last]
        target = out if last - first == len(arrays) - 1 else None
        return operate("_npi_dot", product(first, at), product(at + 1, last), out=target)

    return product(0, len(arrays) - 1)


def _splits(extents):
    """Where to split each chain of matrices whose rows and columns are consecutive extents."""
    count = len(extents) - 1
    costs, splits = {(i, i): 0 for i in range(count)}, {}
    for length in range(1, count):
        for first in range(count - length):
            last = first + length
            costs[first, last], splits[first, last] = min(
                (
                    costs[first, at]
                    + costs[at + 1, last]
                    + extents[first] * extents[at + 1] * extents[last + 1],
                    at,
                )
                for at in range(first, last)
            )
    return splits
