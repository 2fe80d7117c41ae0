"""`mx.sym.linalg`: linear algebra for symbols."""

# Written by `python -m tools.stubs --write`.

from mxcy.symbol.symbol import (
    Symbol as Symbol,
)

def det(
    A: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the determinants of square matrices; a single matrix gives shape (1,)."""
def extractdiag(
    A: Symbol | None = None, offset: int = 0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Extract the diagonals of square matrices; a positive `offset` is above the main ..."""
def extracttrian(
    A: Symbol | None = None, offset: int = 0, lower: bool = True, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Extract triangles of square matrices as vectors."""
def gelqf(
    A: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the LQ factorisation ``A = L Q``: orthonormal rows in Q, lower triangular L."""
def gemm(
    A: Symbol | None = None, B: Symbol | None = None, C: Symbol | None = None,
    transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1.0, beta: float = 1.0,
    axis: int = -2, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute matrix products with addition: ``alpha * op(A) op(B) + beta * C``."""
def gemm2(
    A: Symbol | None = None, B: Symbol | None = None, transpose_a: bool = False,
    transpose_b: bool = False, alpha: float = 1.0, axis: int = -2, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute matrix products: ``alpha * op(A) op(B)``."""
def inverse(
    A: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the inverse of square matrices; singular matrices raise an error."""
def inverse_or_zero(
    A: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the inverse of square matrices; singular matrices give zeros."""
def makediag(
    A: Symbol | None = None, offset: int = 0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Construct square matrices with the given diagonals at `offset` above the main one."""
def maketrian(
    A: Symbol | None = None, offset: int = 0, lower: bool = True, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Construct square matrices with the given triangles and zeros elsewhere."""
def potrf(
    A: Symbol | None = None, lower: bool = True, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the Cholesky factor L, lower triangular, of positive definite ``A = L L^T``."""
def potri(
    A: Symbol | None = None, lower: bool = True, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the inverse of ``A A^T`` for lower triangular A, such as a Cholesky factor."""
def slogdet(
    A: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the signs and log-magnitudes of determinants; a single matrix gives shape ..."""
def sumlogdiag(
    A: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the sum of the logarithms of the diagonals of square matrices."""
def syevd(
    A: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Compute the eigendecomposition of symmetric matrices: ``A = U^T diag(L) U``."""
def syrk(
    A: Symbol | None = None, transpose: bool = False, alpha: float = 1.0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Multiply a matrix by its transpose: ``alpha * A A^T``, with `transpose` ``alpha * ..."""
def trmm(
    A: Symbol | None = None, B: Symbol | None = None, transpose: bool = False,
    rightside: bool = False, lower: bool = True, alpha: float = 1.0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Multiply by triangular matrices: ``alpha * op(A) B``, or ``alpha * B op(A)``."""
def trsm(
    A: Symbol | None = None, B: Symbol | None = None, transpose: bool = False,
    rightside: bool = False, lower: bool = True, alpha: float = 1.0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Solve triangular systems ``op(A) X = alpha * B``, or ``X op(A) = alpha * B``, for X."""
