"""`mx.sym.linalg`: the operators of that family, over symbols."""

# Written by `python -m tools.stubs --write`.

from mxcy.symbol.symbol import (
    Symbol as Symbol,
)

def det(
    A: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """The determinants of square matrices; one matrix gives shape (1,)."""
def extractdiag(
    A: Symbol | None = None, offset: int = 0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """The diagonals of square matrices; `offset` counts diagonals, positive ones lie above."""
def extracttrian(
    A: Symbol | None = None, offset: int = 0, lower: bool = True, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """The triangles of square matrices, each as a vector."""
def gelqf(
    A: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """LQ factors of wide matrices: ``A = L Q`` with orthonormal rows of Q and lower ..."""
def gemm(
    A: Symbol | None = None, B: Symbol | None = None, C: Symbol | None = None,
    transpose_a: bool = False, transpose_b: bool = False, alpha: float = 1.0, beta: float = 1.0,
    axis: int = -2, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Products of matrices: ``alpha * op(A) op(B) + beta * C``."""
def gemm2(
    A: Symbol | None = None, B: Symbol | None = None, transpose_a: bool = False,
    transpose_b: bool = False, alpha: float = 1.0, axis: int = -2, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Products of matrices: ``alpha * op(A) op(B)``."""
def inverse(
    A: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """The inverses of square matrices; an error when there is none."""
def inverse_or_zero(
    A: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """The inverses of square matrices, and zeros for those that have none."""
def makediag(
    A: Symbol | None = None, offset: int = 0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Square matrices with the given diagonals, which lie `offset` above the main one."""
def maketrian(
    A: Symbol | None = None, offset: int = 0, lower: bool = True, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Square matrices with the given triangles and zeros elsewhere."""
def potrf(
    A: Symbol | None = None, lower: bool = True, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Cholesky factors: lower triangular L with ``A = L L^T`` for symmetric positive ..."""
def potri(
    A: Symbol | None = None, lower: bool = True, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """The inverses of ``A A^T`` for lower triangular A, such as Cholesky factors."""
def slogdet(
    A: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """The signs and the logarithms of the magnitudes of determinants; one matrix gives ..."""
def sumlogdiag(
    A: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """The sums of the logarithms of the diagonals of square matrices."""
def syevd(
    A: Symbol | None = None, name: str | None = None, attr: dict[str, str] | None = None,
) -> Symbol:
    """Eigenvectors and eigenvalues of symmetric matrices: ``A = U^T diag(L) U``."""
def syrk(
    A: Symbol | None = None, transpose: bool = False, alpha: float = 1.0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Products with the own transpose: ``alpha * A A^T``, or ``alpha * A^T A`` with ..."""
def trmm(
    A: Symbol | None = None, B: Symbol | None = None, transpose: bool = False,
    rightside: bool = False, lower: bool = True, alpha: float = 1.0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Products with triangular matrices: ``alpha * op(A) B``, or ``alpha * B op(A)``."""
def trsm(
    A: Symbol | None = None, B: Symbol | None = None, transpose: bool = False,
    rightside: bool = False, lower: bool = True, alpha: float = 1.0, name: str | None = None,
    attr: dict[str, str] | None = None,
) -> Symbol:
    """Solutions X of triangular systems ``op(A) X = alpha * B``, or ``X op(A) = alpha * B``."""
