"""Diagonals and triangles of matrices."""

import numpy as np

from mxcy.onnx.mx2onnx.registry import convert

__all__ = []


def _triangle(G, x, k, upper):
    if x.ndim == 1:
        x = G.expand(x, [G.dim(x, 0), G.dim(x, 0)])
    if G.opset >= 14:
        return G.op("Trilu", x, G.const(np.int64(k)), upper=int(upper), shape=x.shape)
    if -1 in x.shape[-2:]:
        G.unsupported("free extents before opset 14")
    kept = (np.triu if upper else np.tril)(np.ones(x.shape[-2:], bool), k)
    return G.Where(G.const(kept), x, G.like(x, 0))


@convert("_npi_tril")
def lower_triangle(a, G, x):
    """Zeros above a diagonal."""
    return _triangle(G, x, a.k, False)


@convert("_npi_triu")
def upper_triangle(a, G, x):
    """Zeros below a diagonal."""
    return _triangle(G, x, a.k, True)


def _diagonal(G, x, offset, first, second):
    """Diagonal of two axes, as the last axis."""
    first, second = first % x.ndim, second % x.ndim
    others = [i for i in range(x.ndim) if i not in (first, second)]
    x = G.transpose(x, [*others, first, second])
    rows, columns = x.shape[-2:]
    if -1 in (rows, columns):
        G.unsupported("free extents")
    count = len(np.diagonal(np.empty((rows, columns), bool), offset))
    start = offset if offset >= 0 else -offset * columns
    places = start + np.arange(count, dtype=np.int64) * (columns + 1)
    flat = G.reshape(x, [*G.dims(x)[:-2], rows * columns])
    return G.gather(flat, G.const(places), flat.ndim - 1)


def _as_diagonal(G, x, k):
    """Matrix with a vector on a diagonal."""
    extent = x.shape[0]
    if extent == -1:
        G.unsupported("a free extent")
    size = extent + abs(k)
    places = np.diag(np.arange(1, extent + 1), k).reshape(-1)
    padded = G.concat([G.full([1], 0, x.dtype), x], 0)
    return G.reshape(G.gather(padded, G.const(places.astype(np.int64))), [size, size])


@convert("diag")
def diag(a, G, x):
    """Extract a diagonal, or create a diagonal matrix."""
    if x.ndim == 1:
        return _as_diagonal(G, x, a.k)
    return _diagonal(G, x, a.k, a.axis1, a.axis2)


@convert("_npi_diag")
def np_diag(a, G, x):
    """Extract a diagonal, or create a diagonal matrix."""
    return _as_diagonal(G, x, a.k) if x.ndim == 1 else _diagonal(G, x, a.k, 0, 1)


@convert("_npi_diagflat")
def diagonal_of_all(a, G, x):
    """Create a matrix with all elements on a diagonal."""
    return _as_diagonal(G, G.flat(x), a.k)


@convert("_npi_diagonal")
def diagonal(a, G, x):
    """Extract the diagonal of two axes."""
    return _diagonal(G, x, a.offset, a.axis1, a.axis2)


@convert("_npi_trace")
def trace(a, G, x):
    """The sum of a diagonal."""
    diagonal = _diagonal(G, x, a.offset, a.axis1, a.axis2)
    return G.reduce("Sum", G.cast(diagonal, G.out.dtype), (-1,))
