"""Factors of matrices: their eigenvalues, singular values, determinants."""

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
    return apply("_npi_cholesky", a, lower=not upper)


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
    factors = apply_several(QRResult, "_npi_qr", a, complete=mode == "complete")
    return factors.R if mode == "r" else factors


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
    return apply_several(SVDResult, "_npi_svd", a, full_matrices=full)


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
    return apply_several(EighResult, "_npi_eigh", a, UPLO=triangle)


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
    return apply("_npi_eigvalsh", a, UPLO=triangle)


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
    return apply_several(EigResult, "_npi_eig", a)


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
    return apply("_npi_eigvals", a)


def det(a):
    """The determinants of square matrices.

    Parameters
    ----------
    a : array_like

    Returns
    -------
    ndarray
    """
    return apply("_mx_det", a)


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
    return apply_several(SlogdetResult, "_mx_slogdet", a)
