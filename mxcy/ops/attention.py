"""Products of attention, whose operands lie interleaved in one array.

For each position and sample, the projections of all heads lie one after the other: (query, key,
value) of the first head, of the second, ... Definition: Vaswani et al. (2017).
"""

import math

from mxcy.ops.attrs import Int
from mxcy.ops.infer import Spec, require, same_dtype
from mxcy.ops.norm import require_float
from mxcy.ops.record import op, sample

__all__ = []


def _split(xp, x, heads, count):
    """(steps, batch, heads * count * d) as `count` arrays (batch, heads, steps, d)."""
    steps, batch, width = x.shape
    parts = x.reshape(steps, batch, heads, count, width // (heads * count))
    return [parts[:, :, :, i].transpose(1, 2, 0, 3) for i in range(count)]


def _graph_split(F, x, spec, heads, count):
    """The same with operators: arrays (batch * heads, steps, d)."""
    steps, batch, width = spec.shape
    depth = width // (heads * count)
    parts = F.Reshape(x, shape=(steps, batch, heads, count, depth))
    parts = F.Reshape(F.transpose(parts, axes=(3, 1, 2, 0, 4)), shape=(count, -1, steps, depth))
    return [F.Reshape(F.slice_axis(parts, axis=0, begin=i, end=i + 1), shape=(-3, 0, 0))
            for i in range(count)]  # fmt: skip


def _graph_join(F, parts, spec, heads):
    """The inverse of `_graph_split`."""
    steps, batch, width = spec.shape
    depth = width // (heads * len(parts))
    stacked = F.Reshape(F.stack(*parts, axis=0), shape=(len(parts), batch, heads, steps, depth))
    return F.Reshape(F.transpose(stacked, axes=(3, 1, 2, 0, 4)), shape=spec.shape)


def _weighted(xp, attention, value):
    """Values (batch, heads, others, d) weighted by attention, as (steps, batch, heads * d)."""
    batch, heads, others, depth = value.shape
    found = xp.matmul(attention.reshape(batch, heads, -1, others), value)
    return found.transpose(2, 0, 1, 3).reshape(-1, batch, heads * depth)


def _depth(a, spec, count, name):
    """The numbers of a head in a row of `spec`; -1 when unknown."""
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


@op("_contrib_interleaved_matmul_selfatt_qk", inputs="queries_keys_values")
class SelfAttentionScores:
    """The products of queries and keys, divided by the square root of a head's depth.

    Shapes: queries_keys_values (steps, batch, heads * 3 * depth); out (batch * heads, steps,
    steps).
    """

    heads: Int

    samples = (sample((3, 2, 12), heads=2), sample((1, 1, 9), heads=1))

    def infer(a, queries_keys_values):
        _depth(a, queries_keys_values, 3, "queries_keys_values")
        steps, batch, _ = queries_keys_values.shape
        return Spec((_groups(a, batch), steps, steps), queries_keys_values.dtype)

    def grad(a, F, g, queries_keys_values, specs):
        query, key, value = _graph_split(F, queries_keys_values, specs[0], a.heads, 3)
        g = g * (1 / math.sqrt(specs[0].shape[2] // (3 * a.heads)))
        parts = [F.batch_dot(g, key), F.batch_dot(g, query, transpose_a=True), F.zeros_like(value)]
        return _graph_join(F, parts, specs[0], a.heads)

    def ref(a, xp, queries_keys_values):
        query, key, _ = _split(xp, queries_keys_values, a.heads, 3)
        return _scores(xp, query, key)


def _scores(xp, query, key):
    found = xp.matmul(query / math.sqrt(query.shape[-1]), key.transpose(0, 1, 3, 2))
    return found.reshape(-1, *found.shape[2:])


@op("_contrib_interleaved_matmul_selfatt_valatt", inputs="queries_keys_values attention")
class SelfAttentionValues:
    """The values weighted by attention.

    Shapes: queries_keys_values (steps, batch, heads * 3 * depth); attention (batch * heads, steps,
    steps); out (steps, batch, heads * depth).
    """

    heads: Int

    samples = (sample((3, 2, 12), (4, 3, 3), heads=2),)

    def infer(a, queries_keys_values, attention):
        dtype = same_dtype(
            (queries_keys_values, attention), ("queries_keys_values", "attention")
        )  # fmt: skip
        depth = _depth(a, queries_keys_values, 3, "queries_keys_values")
        steps, batch, _ = queries_keys_values.shape
        attention.fill("attention", (_groups(a, batch), steps, steps))
        return Spec((steps, batch, -1 if depth == -1 else a.heads * depth), dtype)

    def grad(a, F, g, queries_keys_values, attention, specs):
        query, key, value = _graph_split(F, queries_keys_values, specs[0], a.heads, 3)
        steps, batch, width = specs[0].shape
        (g,) = _graph_split(F, g, Spec((steps, batch, width // 3)), a.heads, 1)
        parts = [
            F.zeros_like(query),
            F.zeros_like(key),
            F.batch_dot(attention, g, transpose_a=True),
        ]
        joined = _graph_join(F, parts, specs[0], a.heads)
        return joined, F.batch_dot(g, value, transpose_b=True)

    def ref(a, xp, queries_keys_values, attention):
        value = _split(xp, queries_keys_values, a.heads, 3)[2]
        return _weighted(xp, attention, value)


@op("_contrib_interleaved_matmul_encdec_qk", inputs="queries keys_values")
class CrossAttentionScores:
    """The products of queries and another sequence's keys, divided by the root of a head's depth.

    Shapes: queries (steps, batch, heads * depth); keys_values (others, batch, heads * 2 * depth);
    out (batch * heads, steps, others).
    """

    heads: Int

    samples = (sample((3, 2, 4), (5, 2, 8), heads=2),)

    def infer(a, queries, keys_values):
        dtype = same_dtype((queries, keys_values), ("queries", "keys_values"))
        depth = _depth(a, queries, 1, "queries")
        steps, batch, _ = queries.shape
        keys_values.fill("keys_values", (-1, batch, -1 if depth == -1 else 2 * a.heads * depth))
        return Spec((_groups(a, batch), steps, keys_values.shape[0]), dtype)

    def grad(a, F, g, queries, keys_values, specs):
        (query,) = _graph_split(F, queries, specs[0], a.heads, 1)
        key, value = _graph_split(F, keys_values, specs[1], a.heads, 2)
        g = g * (1 / math.sqrt(specs[0].shape[2] // a.heads))
        parts = [F.batch_dot(g, query, transpose_a=True), F.zeros_like(value)]
        return (
            _graph_join(F, [F.batch_dot(g, key)], specs[0], a.heads),
            _graph_join(F, parts, specs[1], a.heads),
        )

    def ref(a, xp, queries, keys_values):
        (query,) = _split(xp, queries, a.heads, 1)
        return _scores(xp, query, _split(xp, keys_values, a.heads, 2)[0])


@op("_contrib_interleaved_matmul_encdec_valatt", inputs="keys_values attention")
class CrossAttentionValues:
    """Another sequence's values weighted by attention.

    Shapes: keys_values (others, batch, heads * 2 * depth); attention (batch * heads, steps,
    others); out (steps, batch, heads * depth).
    """

    heads: Int

    samples = (sample((5, 2, 8), (4, 3, 5), heads=2),)

    def infer(a, keys_values, attention):
        dtype = same_dtype((keys_values, attention), ("keys_values", "attention"))
        depth = _depth(a, keys_values, 2, "keys_values")
        others, batch, _ = keys_values.shape
        attention.fill("attention", (_groups(a, batch), -1, others))
        return Spec((attention.shape[1], batch, -1 if depth == -1 else a.heads * depth), dtype)

    def grad(a, F, g, keys_values, attention, specs):
        key, value = _graph_split(F, keys_values, specs[0], a.heads, 2)
        _, batch, width = specs[0].shape
        (g,) = _graph_split(F, g, Spec((specs[1].shape[1], batch, width // 2)), a.heads, 1)
        parts = [F.zeros_like(key), F.batch_dot(attention, g, transpose_a=True)]
        return (
            _graph_join(F, parts, specs[0], a.heads),
            F.batch_dot(g, value, transpose_b=True),
        )

    def ref(a, xp, keys_values, attention):
        value = _split(xp, keys_values, a.heads, 2)[1]
        return _weighted(xp, attention, value)
