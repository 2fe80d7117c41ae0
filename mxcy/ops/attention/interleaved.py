"""Attention products with interleaved projections.

For each position and sample, the projections of the heads are consecutive: (query, key, value) of
the first head, then of the second, ... Definition: Vaswani et al. (2017).
"""

import math

from mxcy.ops.core.attrs import Int
from mxcy.ops.core.infer import Spec, require, same_dtype
from mxcy.ops.core.record import op, sample
from mxcy.ops.matrix.strided_dot import Products, product_kernel, transposed
from mxcy.ops.norm.batch import require_float

__all__ = []


def _split(xp, x, heads, count):
    """Split (steps, batch, heads * count * d) into `count` arrays (batch, heads, steps, d)."""
    steps, batch, width = x.shape
    parts = x.reshape(steps, batch, heads, count, width // (heads * count))
    return [parts[:, :, :, i].transpose(1, 2, 0, 3) for i in range(count)]


def _weighted(xp, attention, value):
    """Weight values (batch, heads, others, d) by attention; return (steps, batch, heads * d)."""
    batch, heads, others, depth = value.shape
    summed = xp.matmul(attention.reshape(batch, heads, -1, others), value)
    return summed.transpose(2, 0, 1, 3).reshape(-1, batch, heads * depth)


def _depth(a, spec, count, name):
    """Return the depth of a head in the rows of `spec`; -1 if unknown."""
    require_float(spec, name)
    require(a.heads > 0, f"heads: expected 1 or more, got {a.heads}")
    spec.fill(name, (-1, -1, -1))
    width = spec.shape[2]
    require(
        width == -1 or width % (count * a.heads) == 0,
        f"{name}: rows of {width} cannot be divided into {count} parts of {a.heads} heads",
    )
    return -1 if width == -1 else width // (count * a.heads)


def _groups(a, batch):
    return -1 if batch == -1 else batch * a.heads


# --- placement of matrices -----------------------------------------------------------------------


class _Rows:
    """An array with `parts` parts per head in each row; a matrix is one part, (steps, depth)."""

    def __init__(self, spec, heads, parts):
        self.steps, self.batch, width = spec.shape
        self.heads, self.parts, self.shape = heads, parts, spec.shape
        self.depth = width // (heads * parts)

    def part(self, number):
        """Return the place of a part's matrices."""
        width = self.shape[2]
        return number * self.depth, width, self.parts * self.depth, self.batch * width, 1

    def groups(self, rows, columns):
        """Return the place of consecutive matrices, one per head of each sample."""
        return 0, self.heads * rows * columns, rows * columns, columns, 1


def _scores_products(query, key, key_part):
    """Return the products of queries and keys."""
    sizes = (query.batch, query.heads, query.steps, key.steps, query.depth)
    out = query.groups(query.steps, key.steps)
    scale = 1 / math.sqrt(query.depth)
    return Products(sizes, query.part(0), transposed(key.part(key_part)), out, scale)


def _values_products(values, steps):
    """Return the products of attention over `steps` steps with the last part of `values`."""
    sizes = (values.batch, values.heads, steps, values.depth, values.steps)
    width = values.heads * values.depth
    out = 0, width, values.depth, values.batch * width, 1
    lhs = values.groups(steps, values.steps)
    return Products(sizes, lhs, values.part(values.parts - 1), out)


def _self_scores(a, ins, outs=None):
    rows = _Rows(ins[0], a.heads, 3)
    return _scores_products(rows, rows, 1)


def _cross_scores(a, ins, outs=None):
    return _scores_products(_Rows(ins[0], a.heads, 1), _Rows(ins[1], a.heads, 2), 0)


def _self_values(a, ins, outs=None):
    return _values_products(_Rows(ins[0], a.heads, 3), ins[1].shape[1])


def _cross_values(a, ins, outs=None):
    return _values_products(_Rows(ins[0], a.heads, 2), ins[1].shape[1])


def _gradients(F, products, g, lhs, rhs):
    """Return the gradients of both operands, which are (array, Spec)."""
    by_lhs = F._strided_dot(g, rhs[0], **products.by_lhs.attrs, shape=lhs[1].shape)
    by_rhs = F._strided_dot(lhs[0], g, **products.by_rhs.attrs, shape=rhs[1].shape)
    return by_lhs, by_rhs


# --- operators -----------------------------------------------------------------------------------


@op(
    "_contrib_interleaved_matmul_selfatt_qk",
    aliases=("_npx_interleaved_matmul_selfatt_qk",),
    inputs="queries_keys_values",
    amp="widest",
)
class SelfAttentionScores:
    """Compute self-attention scores: queries times keys, divided by sqrt(depth).

    Shapes: queries_keys_values (steps, batch, heads * 3 * depth); out (batch * heads, steps,
    steps).
    """

    heads: Int

    samples = (sample((3, 2, 12), heads=2), sample((1, 1, 9), heads=1))

    kernels = (product_kernel(_self_scores, 0, 0),)

    def infer(a, queries_keys_values):
        _depth(a, queries_keys_values, 3, "queries_keys_values")
        steps, batch, _ = queries_keys_values.shape
        return Spec((_groups(a, batch), steps, steps), queries_keys_values.dtype)

    def grad(a, F, g, queries_keys_values, specs):
        x, products = queries_keys_values, _self_scores(a, specs)
        shape = specs[0].shape
        by_query = F._strided_dot(g, x, **products.by_lhs.attrs, shape=shape)
        attrs = products.by_rhs.attrs
        return F._strided_dot(x, g, by_query, **attrs, shape=shape, with_base=True)

    def ref(a, xp, queries_keys_values):
        query, key, _ = _split(xp, queries_keys_values, a.heads, 3)
        return _scores(xp, query, key)


def _scores(xp, query, key):
    scores = xp.matmul(query / math.sqrt(query.shape[-1]), key.transpose(0, 1, 3, 2))
    return scores.reshape(-1, *scores.shape[2:])


@op(
    "_contrib_interleaved_matmul_selfatt_valatt",
    aliases=("_npx_interleaved_matmul_selfatt_valatt",),
    inputs="queries_keys_values attention",
    amp="widest",
)
class SelfAttentionValues:
    """Compute self-attention outputs: values weighted by attention.

    Shapes: queries_keys_values (steps, batch, heads * 3 * depth); attention (batch * heads, steps,
    steps); out (steps, batch, heads * depth).
    """

    heads: Int

    samples = (sample((3, 2, 12), (4, 3, 3), heads=2),)

    kernels = (product_kernel(_self_values, 1, 0),)

    def infer(a, queries_keys_values, attention):
        dtype = same_dtype((queries_keys_values, attention), ("queries_keys_values", "attention"))
        depth = _depth(a, queries_keys_values, 3, "queries_keys_values")
        steps, batch, _ = queries_keys_values.shape
        attention.fill("attention", (_groups(a, batch), steps, steps))
        return Spec((steps, batch, -1 if depth == -1 else a.heads * depth), dtype)

    def grad(a, F, g, queries_keys_values, attention, specs):
        lhs, rhs = (attention, specs[1]), (queries_keys_values, specs[0])
        return _gradients(F, _self_values(a, specs), g, lhs, rhs)[::-1]

    def ref(a, xp, queries_keys_values, attention):
        value = _split(xp, queries_keys_values, a.heads, 3)[2]
        return _weighted(xp, attention, value)


@op(
    "_contrib_interleaved_matmul_encdec_qk",
    aliases=("_npx_interleaved_matmul_encdec_qk",),
    inputs="queries keys_values",
    amp="widest",
)
class CrossAttentionScores:
    """Compute cross-attention scores: queries times another sequence's keys, over sqrt(depth).

    Shapes: queries (steps, batch, heads * depth); keys_values (others, batch, heads * 2 * depth);
    out (batch * heads, steps, others).
    """

    heads: Int

    samples = (sample((3, 2, 4), (5, 2, 8), heads=2),)

    kernels = (product_kernel(_cross_scores),)

    def infer(a, queries, keys_values):
        dtype = same_dtype((queries, keys_values), ("queries", "keys_values"))
        depth = _depth(a, queries, 1, "queries")
        steps, batch, _ = queries.shape
        keys_values.fill("keys_values", (-1, batch, -1 if depth == -1 else 2 * a.heads * depth))
        return Spec((_groups(a, batch), steps, keys_values.shape[0]), dtype)

    def grad(a, F, g, queries, keys_values, specs):
        lhs, rhs = (queries, specs[0]), (keys_values, specs[1])
        return _gradients(F, _cross_scores(a, specs), g, lhs, rhs)

    def ref(a, xp, queries, keys_values):
        (query,) = _split(xp, queries, a.heads, 1)
        return _scores(xp, query, _split(xp, keys_values, a.heads, 2)[0])


@op(
    "_contrib_interleaved_matmul_encdec_valatt",
    aliases=("_npx_interleaved_matmul_encdec_valatt",),
    inputs="keys_values attention",
    amp="widest",
)
class CrossAttentionValues:
    """Compute cross-attention outputs: another sequence's values weighted by attention.

    Shapes: keys_values (others, batch, heads * 2 * depth); attention (batch * heads, steps,
    others); out (steps, batch, heads * depth).
    """

    heads: Int

    samples = (sample((5, 2, 8), (4, 3, 5), heads=2),)

    kernels = (product_kernel(_cross_values, 1, 0),)

    def infer(a, keys_values, attention):
        dtype = same_dtype((keys_values, attention), ("keys_values", "attention"))
        depth = _depth(a, keys_values, 2, "keys_values")
        others, batch, _ = keys_values.shape
        attention.fill("attention", (_groups(a, batch), -1, others))
        return Spec((attention.shape[1], batch, -1 if depth == -1 else a.heads * depth), dtype)

    def grad(a, F, g, keys_values, attention, specs):
        lhs, rhs = (attention, specs[1]), (keys_values, specs[0])
        return _gradients(F, _cross_values(a, specs), g, lhs, rhs)[::-1]

    def ref(a, xp, keys_values, attention):
        value = _split(xp, keys_values, a.heads, 2)[1]
        return _weighted(xp, attention, value)
