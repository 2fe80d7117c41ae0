"""`mx.nd.linalg`: linear algebra."""

# Written by `python -m tools.stubs --write`.

from typing import TypeAlias
from mxcy.ndarray.ndarray import (
    NDArray as NDArray,
)

_Out: TypeAlias = NDArray | list[NDArray] | None

def det(A: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """The determinants of square matrices; one matrix gives shape (1,)."""
def extractdiag(A: NDArray, offset: int = 0, out: _Out = None, name: str | None = None) -> NDArray:
    """The diagonals of square matrices; `offset` counts diagonals, positive ones lie above."""
def extracttrian(
    A: NDArray, offset: int = 0, lower: bool = True, out: _Out = None, name: str | None = None,
) -> NDArray:
    """The triangles of square matrices, each as a vector."""
def gelqf(A: NDArray, out: _Out = None, name: str | None = None) -> list[NDArray]:
    """LQ factors of wide matrices: ``A = L Q`` with orthonormal rows of Q and lower ..."""
def gemm(
    A: NDArray, B: NDArray, C: NDArray, transpose_a: bool = False, transpose_b: bool = False,
    alpha: float = 1.0, beta: float = 1.0, axis: int = -2, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Products of matrices: ``alpha * op(A) op(B) + beta * C``."""
def gemm2(
    A: NDArray, B: NDArray, transpose_a: bool = False, transpose_b: bool = False,
    alpha: float = 1.0, axis: int = -2, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Products of matrices: ``alpha * op(A) op(B)``."""
def inverse(A: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """The inverses of square matrices; an error when there is none."""
def inverse_or_zero(A: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """The inverses of square matrices, and zeros for those that have none."""
def makediag(A: NDArray, offset: int = 0, out: _Out = None, name: str | None = None) -> NDArray:
    """Square matrices with the given diagonals, which lie `offset` above the main one."""
def maketrian(
    A: NDArray, offset: int = 0, lower: bool = True, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Square matrices with the given triangles and zeros elsewhere."""
def potrf(A: NDArray, lower: bool = True, out: _Out = None, name: str | None = None) -> NDArray:
    """Cholesky factors: lower triangular L with ``A = L L^T`` for symmetric positive ..."""
def potri(A: NDArray, lower: bool = True, out: _Out = None, name: str | None = None) -> NDArray:
    """The inverses of ``A A^T`` for lower triangular A, such as Cholesky factors."""
def slogdet(A: NDArray, out: _Out = None, name: str | None = None) -> list[NDArray]:
    """The signs and the logarithms of the magnitudes of determinants; one matrix gives ..."""
def sumlogdiag(A: NDArray, out: _Out = None, name: str | None = None) -> NDArray:
    """The sums of the logarithms of the diagonals of square matrices."""
def syevd(A: NDArray, out: _Out = None, name: str | None = None) -> list[NDArray]:
    """Eigenvectors and eigenvalues of symmetric matrices: ``A = U^T diag(L) U``."""
def syrk(
    A: NDArray, transpose: bool = False, alpha: float = 1.0, out: _Out = None,
    name: str | None = None,
) -> NDArray:
    """Products with the own transpose: ``alpha * A A^T``, or ``alpha * A^T A`` with ..."""
def trmm(
    A: NDArray, B: NDArray, transpose: bool = False, rightside: bool = False, lower: bool = True,
    alpha: float = 1.0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Products with triangular matrices: ``alpha * op(A) B``, or ``alpha * B op(A)``."""
def trsm(
    A: NDArray, B: NDArray, transpose: bool = False, rightside: bool = False, lower: bool = True,
    alpha: float = 1.0, out: _Out = None, name: str | None = None,
) -> NDArray:
    """Solutions X of triangular systems ``op(A) X = alpha * B``, or ``X op(A) = alpha * B``."""
