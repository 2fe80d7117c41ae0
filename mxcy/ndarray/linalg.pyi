"""`mx.nd.linalg`: linear algebra."""

# Written by `python -m tools.stubs --write`.

from typing import TypeAlias
from mxcy.ndarray.ndarray import (
    NDArray as NDArray,
)

_Out: TypeAlias = NDArray | list[NDArray] | None

def det(A: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Compute the determinants of square matrices; a single matrix gives shape (1,)."""
def extractdiag(A: NDArray, offset: int = 0, out: _Out = None, name: str | None = None) -> NDArray:
    """Extract the diagonals of square matrices; a positive `offset` is above the main ..."""
def extracttrian(
    A: NDArray, offset: int = 0, lower: bool = True, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Extract triangles of square matrices as vectors."""
def gelqf(A: NDArray, out: _Out = None, name: str | None = None) -> list[NDArray]:
    """Compute the LQ factorisation ``A = L Q``: orthonormal rows in Q, lower triangular L."""
def gemm(
    A: NDArray, B: NDArray, C: NDArray, transpose_a: bool = False, transpose_b: bool = False,
    alpha: float = 1.0, beta: float = 1.0, axis: int = -2, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Compute matrix products with addition: ``alpha * op(A) op(B) + beta * C``."""
def gemm2(
    A: NDArray, B: NDArray, transpose_a: bool = False, transpose_b: bool = False,
    alpha: float = 1.0, axis: int = -2, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Compute matrix products: ``alpha * op(A) op(B)``."""
def inverse(A: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Compute the inverse of square matrices; singular matrices raise an error."""
def inverse_or_zero(A: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Compute the inverse of square matrices; singular matrices give zeros."""
def makediag(A: NDArray, offset: int = 0, out: _Out = None, name: str | None = None) -> NDArray:
    """Construct square matrices with the given diagonals at `offset` above the main one."""
def maketrian(
    A: NDArray, offset: int = 0, lower: bool = True, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Construct square matrices with the given triangles and zeros elsewhere."""
def potrf(A: NDArray, lower: bool = True, out: _Out = None, name: str | None = None) -> NDArray:
    """Compute the Cholesky factor L, lower triangular, of positive definite ``A = L L^T``."""
def potri(A: NDArray, lower: bool = True, out: _Out = None, name: str | None = None) -> NDArray:
    """Compute the inverse of ``A A^T`` for lower triangular A, such as a Cholesky factor."""
def slogdet(A: NDArray, out: _Out = None, name: str | None = None) -> list[NDArray]:
    """Compute the signs and log-magnitudes of determinants; a single matrix gives shape ..."""
def sumlogdiag(A: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """Compute the sum of the logarithms of the diagonals of square matrices."""
def syevd(A: NDArray, out: _Out = None, name: str | None = None) -> list[NDArray]:
    """Compute the eigendecomposition of symmetric matrices: ``A = U^T diag(L) U``."""
def syrk(
    A: NDArray, transpose: bool = False, alpha: float = 1.0, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Multiply a matrix by its transpose: ``alpha * A A^T``, with `transpose` ``alpha * ..."""
def trmm(
    A: NDArray, B: NDArray, transpose: bool = False, rightside: bool = False, lower: bool = True,
    alpha: float = 1.0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Multiply by triangular matrices: ``alpha * op(A) B``, or ``alpha * B op(A)``."""
def trsm(
    A: NDArray, B: NDArray, transpose: bool = False, rightside: bool = False, lower: bool = True,
    alpha: float = 1.0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Solve triangular systems ``op(A) X = alpha * B``, or ``X op(A) = alpha * B``, for X."""
