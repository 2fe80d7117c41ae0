"""Matrix products."""

import math

import numpy as np

from mxcy.onnx.mx2onnx.converters.elementwise import computed
from mxcy.onnx.mx2onnx.registry import convert

__all__ = []


def _swapped(G, x):
    return G.transpose(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


@convert("dot")
def dot(a, G, x, y):
    """Contract the last axis of one operand with the first of the other."""
    if a.transpose_a and x.ndim > 1:
        x = G.transpose(x, (*range(1, x.ndim), 0))
    if a.transpose_b and y.ndim > 1:
        y = G.transpose(y, (y.ndim - 1, *range(y.ndim - 1)))
    return _product(G, x, y)


def _product(G, x, y):
    left, right = G.dims(x)[:-1], G.dims(y)[1:]
    if y.ndim <= 2:
        product = G.MatMul(x, y)
        product.shape = G.known([*left, *right])
        return product if product.shape else G.reshape(product, G.out.shape)
    rows = G.reshape(y, [G.dim(y, 0), -1])
    product = G.MatMul(x, rows)
    product.shape = None
    return G.reshape(product, [*left, *right])


@convert("batch_dot")
def batch_dot(a, G, x, y):
    """Batched matrix product."""
    x = _swapped(G, x) if a.transpose_a else x
    return G.MatMul(x, _swapped(G, y) if a.transpose_b else y)


def _matrices(a, G, *values):
    """Move the matrices to the last two axes, as in MatMul."""
    return [_rows_in_front(G, x, a.axis) for x in values]


def _rows_in_front(G, x, axis):
    axis %= x.ndim
    if axis == x.ndim - 2:
        return x
    order = [i for i in range(x.ndim) if i != axis]
    order.insert(x.ndim - 2, axis)
    return G.transpose(x, order)


def _rows_back(a, G, x, ndim):
    axis = a.axis % ndim
    if axis == ndim - 2:
        return x
    order = [i for i in range(ndim) if i != ndim - 2]
    order.insert(axis, ndim - 2)
    x.shape = x.shape or (-1,) * ndim
    return G.transpose(x, order)


@convert("_linalg_gemm")
def gemm(a, G, x, y, z):
    """A product and a sum."""
    left, right, more = _matrices(a, G, x, y, z)
    left = _swapped(G, left) if a.transpose_a else left
    right = _swapped(G, right) if a.transpose_b else right
    product = G.MatMul(left, right) * a.alpha + more * a.beta
    return _rows_back(a, G, product, x.ndim)


@convert("_linalg_gemm2")
def gemm2(a, G, x, y):
    """A product."""
    left, right = _matrices(a, G, x, y)
    left = _swapped(G, left) if a.transpose_a else left
    right = _swapped(G, right) if a.transpose_b else right
    product = G.MatMul(left, right)
    return _rows_back(a, G, product if a.alpha == 1 else product * a.alpha, x.ndim)


@convert("_linalg_syrk")
def syrk(a, G, x):
    """Product of a matrix with its transpose."""
    product = G.MatMul(_swapped(G, x), x) if a.transpose else G.MatMul(x, _swapped(G, x))
    return product * a.alpha


@convert("_linalg_trmm")
def trmm(a, G, x, y):
    """Product with a triangular matrix."""
    if G.opset >= 14:
        x = G.op("Trilu", x, None, upper=int(not a.lower), shape=x.shape)
    elif x.static:
        kept = (np.tril if a.lower else np.triu)(np.ones(x.shape[-2:], bool))
        x = G.Where(G.const(kept), x, G.like(x, 0))
    else:
        G.unsupported("free extents before opset 14")
    x = _swapped(G, x) if a.transpose else x
    return (G.MatMul(y, x) if a.rightside else G.MatMul(x, y)) * a.alpha


@convert("_linalg_det", "_mx_det")
def determinant(a, G, x):
    """Convert to the ONNX operator of the same name."""
    determinants = G.Det(x)
    return G.reshape(determinants, [1]) if x.ndim == 2 and G.out.shape else determinants


@convert("_linalg_sumlogdiag")
def sum_of_logarithms(a, G, x):
    """Sum of the logarithms of the diagonal."""
    if x.shape[-1] == -1:
        G.unsupported("a free extent")
    inside = G.const(np.eye(x.shape[-1], dtype=bool))
    sums = G.reduce("Sum", G.Log(G.Where(inside, x, G.like(x, 1))), (-2, -1))
    return G.reshape(sums, [1]) if x.ndim == 2 and G.out.shape else sums


@convert(
    "_linalg_extractdiag", "_linalg_extracttrian", "_linalg_makediag", "_linalg_maketrian", "im2col"
)
def moved(a, G, x):
    """Move elements, with zeros between, as the definition does with indices."""
    if not x.static:
        G.unsupported("free extents")
    numbers = np.arange(1, math.prod(x.shape) + 1, dtype=np.int64).reshape(x.shape)
    places = np.asarray(G.node.op.ref(a, np, numbers)).astype(np.int64)
    padded = G.concat([G.full([1], 0, x.dtype), G.flat(x)], 0)
    return G.gather(padded, G.const(places))


@convert("khatri_rao")
def khatri_rao(a, G, *values):
    """Columnwise Kronecker products."""
    product = values[0]
    for x in values[1:]:
        columns = G.dim(x, 1)
        product = G.Mul(G.unsqueeze(product, (1,)), G.unsqueeze(x, (0,)))
        product = G.reshape(product, [-1, columns])
    return product


# --- NumPy ---------------------------------------------------------------------------------------


@convert("_npi_matmul")
def matmul(a, G, x, y):
    """Convert to the ONNX operator of the same name."""
    return G.MatMul(*computed(G, x, y))


@convert("_npi_dot")
def np_dot(a, G, x, y):
    """Contract the last axis of one operand with the second last of the other."""
    x, y = computed(G, x, y)
    if not x.shape or not y.shape:
        return G.Mul(x, y)
    if y.ndim > 2:
        y = G.transpose(y, (y.ndim - 2, *range(y.ndim - 2), y.ndim - 1))
    return _product(G, x, y)


def _contracted(a, G, x, y, left, right):
    """Contract axes by a matrix product."""
    x, y = computed(G, x, y)
    left, right = [i % x.ndim for i in left], [i % y.ndim for i in right]
    kept = [i for i in range(x.ndim) if i not in left]
    others = [i for i in range(y.ndim) if i not in right]
    first, second = G.dims(x), G.dims(y)
    inner = G.times(*(first[i] for i in left)) if left else 1
    row_extents, column_extents = [first[i] for i in kept], [second[i] for i in others]
    if inner == 0 or 0 in row_extents or 0 in column_extents:
        return G.full([*row_extents, *column_extents], 0, x.dtype)
    rows = G.reshape(G.transpose(x, kept + left), [G.times(*row_extents), inner])
    columns = G.reshape(G.transpose(y, right + others), [inner, G.times(*column_extents)])
    product = G.MatMul(rows, columns)
    product.shape = None
    return G.reshape(product, [*row_extents, *column_extents])


@convert("_npi_tensordot")
def tensordot(a, G, x, y):
    """Contract the given axes."""
    return _contracted(a, G, x, y, a.a_axes_summed, a.b_axes_summed)


@convert("_npi_tensordot_int_axes")
def tensordot_of_last(a, G, x, y):
    """Contract the last axes of one operand with the first of the other."""
    return _contracted(a, G, x, y, range(x.ndim - a.axes, x.ndim), range(a.axes))


@convert("_npi_einsum")
def einsum(a, G, *values):
    """Convert to the ONNX operator of the same name."""
    return G.Einsum(*computed(G, *values), equation=a.subscripts.replace(" ", ""))


@convert("_npi_kron")
def kron(a, G, x, y):
    """Kronecker product."""
    x, y = computed(G, x, y)
    ndim = max(x.ndim, y.ndim)
    x, y = (G.unsqueeze(v, tuple(range(ndim - v.ndim))) for v in (x, y))
    shape = [G.times(m, n) for m, n in zip(G.dims(x), G.dims(y), strict=True)]
    x = G.unsqueeze(x, tuple(range(1, 2 * ndim, 2)))
    y = G.unsqueeze(y, tuple(range(0, 2 * ndim, 2)))
    return G.reshape(G.Mul(x, y), shape)


@convert("_npi_polyval")
def polyval(a, G, p, x):
    """Use Horner's rule."""
    if p.shape[0] == -1:
        G.unsupported("a free number of coefficients")
    p, x = computed(G, p, x)
    value = G.full(G.dims(x), 0, x.dtype)
    for i in range(p.shape[0]):
        value = G.Add(G.Mul(value, x), G.gather(p, G.const(np.int64(i))))
    return value


@convert("_npi_cross")
def cross(a, G, x, y):
    """Compute the components from products."""
    x, y = computed(G, x, y)
    if -1 in (x.shape[a.axisa], y.shape[a.axisb]):
        G.unsupported("a free number of components")
    first, second = (
        [G.gather(v, G.const(np.int64(i)), axis % v.ndim) for i in range(v.shape[axis])]
        for v, axis in ((x, a.axisa), (y, a.axisb))
    )
    last = G.Sub(G.Mul(first[0], second[1]), G.Mul(first[1], second[0]))
    if len(first) == len(second) == 2:
        return last
    up, over = (v[2] if len(v) == 3 else G.full(G.dims(v[0]), 0, x.dtype) for v in (first, second))
    parts = [
        G.Sub(G.Mul(first[1], over), G.Mul(up, second[1])),
        G.Sub(G.Mul(up, second[0]), G.Mul(first[0], over)),
        last,
    ]
    axis = a.axisc % len(G.out.shape)
    shape = [n for i, n in enumerate(G.out.shape) if i != axis]
    if -1 not in shape:
        parts = [G.expand(part, shape) for part in parts]
    return G.concat([G.unsqueeze(part, (axis,)) for part in parts], axis)


# --- attention -----------------------------------------------------------------------------------


def _heads(G, x, heads, parts):
    """Split (steps, batch, heads * parts * depth) into arrays (batch, heads, steps, depth)."""
    steps, batch, width = G.dims(x)
    depth = G.over(width, heads * parts)
    x = G.reshape(x, [steps, batch, heads, parts, depth])
    x = G.transpose(x, (3, 1, 2, 0, 4))
    return [G.gather(x, G.const(np.int64(i))) for i in range(parts)]


def _scores(G, query, key):
    depth = query.shape[-1]
    if depth == -1:
        G.unsupported("a free depth")
    scores = G.MatMul(query / math.sqrt(depth), _swapped(G, key))
    batch, heads, steps, _ = G.dims(query)
    return G.reshape(scores, [G.times(batch, heads), steps, G.dim(key, 2)])


def _weighted(G, attention, value):
    batch, heads, _, depth = G.dims(value)
    steps = G.dim(attention, 1)
    weights = G.reshape(attention, [batch, heads, steps, G.dim(attention, 2)])
    product = G.MatMul(weights, value)
    product.shape = None
    product = G.transpose(product, (2, 0, 1, 3))
    return G.reshape(product, [steps, batch, G.times(heads, depth)])


@convert("_contrib_interleaved_matmul_selfatt_qk")
def self_attention_scores(a, G, x):
    """Products of queries and keys."""
    query, key, _ = _heads(G, x, a.heads, 3)
    return _scores(G, query, key)


@convert("_contrib_interleaved_matmul_selfatt_valatt")
def self_attention_values(a, G, x, attention):
    """Values weighted by attention."""
    return _weighted(G, attention, _heads(G, x, a.heads, 3)[2])


@convert("_contrib_interleaved_matmul_encdec_qk")
def cross_attention_scores(a, G, queries, x):
    """Products of queries with another sequence's keys."""
    (query,) = _heads(G, queries, a.heads, 1)
    return _scores(G, query, _heads(G, x, a.heads, 2)[0])


@convert("_contrib_interleaved_matmul_encdec_valatt")
def cross_attention_values(a, G, x, attention):
    """Another sequence's values weighted by attention."""
    return _weighted(G, attention, _heads(G, x, a.heads, 2)[1])
