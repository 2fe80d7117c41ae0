"""Matrix factorisations, eigenvalues, singular values and determinants."""

from collections import namedtuple

from mxcy._library import front
from mxcy.numpy._linalg.floats import apply, apply_several

__all__ = [
    "cholesky",
    "det",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "qr",
    "slogdet",
    "svd",
    "svdvals",
]

EighResult = namedtuple("EighResult", "eigenvalues eigenvectors")
EigResult = namedtuple("EigResult", "eigenvalues eigenvectors")
QRResult = namedtuple("QRResult", "Q R")
SlogdetResult = namedtuple("SlogdetResult", "sign logabsdet")
SVDResult = namedtuple("SVDResult", "U S Vh")


def cholesky(a, upper=False):
    """Compute the Cholesky factor L of positive definite matrices: ``a = L L^H``.

    Parameters
    ----------
    a : array_like
        Hermitian matrices; only one triangle is read.
    upper : bool
        Return U with ``a = U^H U``, reading the upper triangle.

    Returns
    -------
    ndarray
    """
    return apply("_npi_cholesky", a, lower=not upper)


def qr(a, mode="reduced"):
    """Compute the QR factorisation ``a = Q R``: orthonormal columns in Q, upper triangular R.

    Parameters
    ----------
    a : array_like
    mode : {'reduced', 'complete', 'r'}
        'complete' makes Q square, 'r' returns only R.

    Returns
    -------
    QRResult
        `Q` and `R`; only R in mode ``'r'``.

    Raises
    ------
    NotImplementedError
        For other modes.
    """
    if mode not in ("reduced", "complete", "r"):
        raise NotImplementedError(f"qr: mode must be 'reduced', 'complete' or 'r', got {mode!r}")
    factors = apply_several(QRResult, "_npi_qr", a, complete=mode == "complete")
    return factors.R if mode == "r" else factors


def svd(a, full_matrices=None, compute_uv=True, hermitian=False):
    """Compute the singular value decomposition ``a = U diag(S) Vh``.

    Parameters
    ----------
    a : array_like
    full_matrices : bool, optional
        Whether U and Vh are square; by default only with NumPy's dtypes.
    compute_uv : bool
        Whether to compute U and Vh.
    hermitian : bool
        Ignored: Hermitian matrices are treated like others.

    Returns
    -------
    SVDResult or ndarray
        `U`, `S` (in descending order) and `Vh`; only S without `compute_uv`.
    """
    if not compute_uv:
        return svdvals(a)
    full = front.has_numpy_types() if full_matrices is None else bool(full_matrices)
    return apply_several(SVDResult, "_npi_svd", a, full_matrices=full)


def svdvals(a):
    """Compute the singular values of matrices, in descending order.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    ndarray
    """
    return svd(a, False).S


def eigh(a, upper=False, UPLO=None):  # noqa: N803  its public name
    """Compute eigenvalues, ascending, and eigenvectors of symmetric or Hermitian matrices.

    Parameters
    ----------
    a : array_like
    upper : bool or {'L', 'U'}
        Triangle to read: the upper one if True.
    UPLO : {'L', 'U'}, optional
        NumPy's name for `upper`.

    Returns
    -------
    EighResult
        `eigenvalues` and `eigenvectors` (in columns).
    """
    upper = upper if UPLO is None else UPLO
    triangle = upper if isinstance(upper, str) else "U" if upper else "L"
    return apply_several(EighResult, "_npi_eigh", a, UPLO=triangle)


def eigvalsh(a, upper=False, UPLO=None):  # noqa: N803  its public name
    """Compute the eigenvalues of symmetric or Hermitian matrices, ascending.

    Parameters
    ----------
    a : array_like
    upper : bool or {'L', 'U'}
        Triangle to read: the upper one if True.
    UPLO : {'L', 'U'}, optional
        NumPy's name for `upper`.

    Returns
    -------
    ndarray
    """
    upper = upper if UPLO is None else UPLO
    triangle = upper if isinstance(upper, str) else "U" if upper else "L"
    return apply("_npi_eigvalsh", a, UPLO=triangle)


def eig(a):
    """Compute eigenvalues and right eigenvectors of square matrices.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    EigResult
        `eigenvalues` and `eigenvectors` (in columns), not differentiable. They are complex with
        NumPy's dtypes and for complex matrices; otherwise real, and complex values are an error.
    """
    return apply_several(EigResult, "_npi_eig", a)


def eigvals(a):
    """Compute the eigenvalues of square matrices, with the dtypes of `eig`.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    ndarray
        Not differentiable.
    """
    return apply("_npi_eigvals", a)


def det(a):
    """Compute the determinants of square matrices.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    ndarray
    """
    return apply("_mx_det", a)


def slogdet(a):
    """Compute the sign and the logarithm of the absolute value of determinants.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    SlogdetResult
        `sign` and `logabsdet`.
    """
    return apply_several(SlogdetResult, "_mx_slogdet", a)
