"""Fused attention, softmax(scale * Q K' + mask) V, without materialising the scores.

As in `mxcy.ops.matrix.strided_dot`, a `place` locates matrices in an array, in elements: (offset,
outer stride, inner stride, row stride); columns are contiguous. Definitions: Vaswani et al. (2017);
sums over blocks of keys as in Milakov and Gimelshein (2018), recomputed scores for gradients as in
Dao et al. (2022).
"""

import math

from mxcy._base.dtypes import CODES
from mxcy.ops.core.attrs import Double, Enum, LongTuple, Shape
from mxcy.ops.core.infer import Spec, require, same_dtype, whole_shape
from mxcy.ops.core.params import ATTENTION
from mxcy.ops.core.record import native, no_rule, op, sample, values
from mxcy.ops.fused.layer import parameters_of
from mxcy.ops.matrix.strided_dot import indices
from mxcy.ops.norm.batch import require_float
from mxcy.ops.shape.strided import reached

__all__ = []

_ARRAYS = ("first", "second", "third")
_MASKINGS = ("none", "add", "keep", "length")
#: dtypes of masks, if not that of the arrays
_MASK_TYPES = {"keep": ("bool",), "length": ("int32", "int64")}


def _extents(a):
    """Return (rows, columns) of the query, key, value and result matrices."""
    _, _, queries, keys, depth, width = a.sizes
    return (queries, depth), (keys, depth), (keys, width), (queries, width)


def _places(a):
    return a.query_place, a.key_place, a.value_place, a.out_place


def _count(a):
    """Return the number of arrays that hold queries, keys and values."""
    return max(a.sources, default=0) + 1


def _arguments(a):
    return (*_ARRAYS[: _count(a)], *(() if a.masking == "none" else ("mask",)))


def _attributes(a):
    names = ("sizes", "query_place", "key_place", "value_place", "out_place", "sources", "shape")
    return {name: getattr(a, name) for name in (*names, "scale", "masking", "mask_place")}


def _check(a, arrays, mask):
    """Check the attributes against each other and the arrays; return the output Specs."""
    lengths = [len(a.sizes), len(a.sources), *map(len, (*_places(a), a.mask_place))]
    require(
        lengths == [6, 3, 4, 4, 4, 4, 4],
        f"sizes, sources and places: expected 6, 3 and 4 numbers, got {lengths}",
    )
    require(min(a.sizes) > 0, f"sizes: expected positive numbers, got {a.sizes}")
    require(
        set(a.sources) in ({0}, {0, 1}, {0, 1, 2}),
        f"sources: expected the numbers of the arrays, got {a.sources}",
    )
    require(arrays[-1] is not None, f"expected {len(arrays)} arrays")
    dtype = same_dtype(arrays, _ARRAYS[: len(arrays)])
    require_float(arrays[0], _ARRAYS[0])
    out = Spec(whole_shape(a.shape), dtype)
    outer, inner, queries, keys, _, _ = a.sizes
    held = [*(arrays[i] for i in a.sources), out]
    what = ("query", "key", "value", "out")
    for name, spec, place, extents in zip(what, held, _places(a), _extents(a), strict=True):
        _check_place(f"{name}_place", spec, (outer, inner, *extents), place[0], (*place[1:], 1))
    require(
        math.prod((outer, inner, *_extents(a)[3])) == out.size,
        f"sizes: {a.sizes} do not fill the shape {a.shape}",
    )
    if mask is not None:
        if a.masking == "add":
            mask.fill("mask", None, dtype)
        elif mask.dtype is not None:
            kinds = _MASK_TYPES[a.masking]
            known = mask.dtype in [CODES[kind] for kind in kinds]
            require(known, f"mask: expected {' or '.join(kinds)}, got {mask}")
        extents = (outer, inner, queries, 1 if a.masking == "length" else keys)
        _check_place("mask_place", mask, extents, 0, a.mask_place)
    return out, Spec((outer * inner, queries, 2), dtype)


def _check_place(name, spec, extents, offset, steps):
    if spec.known:
        first, last = reached(extents, steps, offset)
        inside = first >= 0 and last < spec.size
        require(inside, f"{name}: {offset}, {steps} leaves an array of shape {spec.shape}")


# --- the definition ------------------------------------------------------------------------------


def _split(a, inputs):
    """Return the arrays, and the mask or None."""
    count = _count(a)
    return inputs[:count], inputs[count] if len(inputs) > count else None


def _matrices(a, xp, arrays):
    """Return queries, keys and values as (outer, inner, rows, columns)."""
    for source, place, extents in zip(a.sources, _places(a), _extents(a), strict=False):
        shape = (*a.sizes[:2], *extents)
        yield arrays[source].reshape(-1)[indices(xp, shape, (*place, 1))]


def _exponents(a, xp, query, key, mask):
    """Return the masked scores, minus infinity where masked out."""
    scores = xp.matmul(query, key.transpose(0, 1, 3, 2)) * scores_type(query, a.scale)
    outer, inner, queries, keys, _, _ = a.sizes
    if mask is None:
        return scores
    extents = (outer, inner, queries, 1 if a.masking == "length" else keys)
    mask = mask.reshape(-1)[indices(xp, extents, (0, *a.mask_place))]
    if a.masking == "add":
        return scores + mask
    kept = xp.arange(keys) < mask if a.masking == "length" else mask
    return xp.where(kept, scores, -xp.inf)


def scores_type(array, number):
    """Return a scalar in an array's dtype."""
    return array.dtype.type(number)


def _statistics(a, xp, exponents):
    """Return each row's maximum and the reciprocal of its sum of exponentials."""
    top = exponents.max(-1, keepdims=True)
    top = xp.where(xp.isneginf(top), 0, top)
    total = xp.exp(exponents - top).sum(-1, keepdims=True)
    with_none = 0 if a.masking in _MASK_TYPES else xp.inf  # all masked out
    return top, xp.where(total == 0, with_none, 1 / xp.where(total == 0, 1, total))


def _scattered(a, xp, matrices, extents, place, into):
    into[indices(xp, (*a.sizes[:2], *extents), (*place, 1))] = matrices


def _result(a, xp, *inputs):
    arrays, mask = _split(a, inputs)
    query, key, value = _matrices(a, xp, arrays)
    exponents = _exponents(a, xp, query, key, mask)
    top, inverse = _statistics(a, xp, exponents)
    out = xp.zeros(math.prod(a.shape), query.dtype)
    summed = xp.matmul(xp.exp(exponents - top) * inverse, value)
    _scattered(a, xp, summed, _extents(a)[3], a.out_place, out)
    stats = xp.concatenate([top, inverse], -1).astype(query.dtype)
    return out.reshape(a.shape), stats.reshape(-1, a.sizes[2], 2)


def _gradients(a, xp, grad, output, stats, *inputs):
    arrays, mask = _split(a, inputs)
    query, key, value = _matrices(a, xp, arrays)
    stats = stats.reshape(*a.sizes[:3], 2)
    weights = xp.exp(_exponents(a, xp, query, key, mask) - stats[..., :1]) * stats[..., 1:]
    place = indices(xp, (*a.sizes[:2], *_extents(a)[3]), (*a.out_place, 1))
    grad, output = grad.reshape(-1)[place], output.reshape(-1)[place]
    by_weights = xp.matmul(grad, value.transpose(0, 1, 3, 2))
    inner = (grad * output).sum(-1, keepdims=True)
    by_scores = weights * (by_weights - inner) * scores_type(query, a.scale)
    slopes = (
        xp.matmul(by_scores, key),
        xp.matmul(by_scores.transpose(0, 1, 3, 2), query),
        xp.matmul(weights.transpose(0, 1, 3, 2), grad),
    )
    flat = [xp.zeros(math.prod(array.shape), array.dtype) for array in arrays]
    for source, slope, extents, place in zip(
        a.sources, slopes, _extents(a), _places(a), strict=False
    ):
        _scattered(a, xp, slope, extents, place, flat[source])
    return tuple(
        gradient.reshape(array.shape) for gradient, array in zip(flat, arrays, strict=True)
    )


# --- kernels -------------------------------------------------------------------------------------


def _kernel(name, first, refuse=lambda a: None):
    """Return the native kernel; the arrays follow `first` other inputs."""

    def params(a, ins, outs):
        outer, inner, queries, keys, depth, width = a.sizes
        covered = [0] * 3
        for source, (rows, columns) in zip(a.sources, _extents(a), strict=False):
            covered[source] += outer * inner * rows * columns
        places = _places(a)
        # without a mask its place was not checked
        steps = {"none": (0, 0, 0, 0), "length": (*a.mask_place[:3], 0)}
        return {
            "outer": outer,
            "inner": inner,
            "queries": queries,
            "keys": keys,
            "depth": depth,
            "width": width,
            "offset": [place[0] for place in places],
            "outer_step": [place[1] for place in places],
            "inner_step": [place[2] for place in places],
            "row": [place[3] for place in places],
            "mask_step": steps.get(a.masking, a.mask_place),
            "source": a.sources,
            "clear": [
                i < _count(a) and covered[i] < ins[first + i].size for i in range(len(covered))
            ],
            "scale": a.scale,
            "masking": _MASKINGS.index(a.masking),
            "arrays": _count(a),
        }

    def when(a, ins, outs):
        # The reference handles overlapping elements; no kernel does.
        stepped = a.masking == "length" or a.mask_place[3] in (0, 1)
        return refuse(a) if stepped else "the columns of the mask are not contiguous"

    def work(a, ins, outs):
        return math.prod(a.sizes[:4]) * (a.sizes[4] + a.sizes[5]) // 4

    return native(name, ATTENTION, params, when, work=work, mixed=True)


def _refuse_odd(a):
    """Return why pairs of elements cannot be moved together, or None."""
    even = a.sizes[4] % 2 == 0 and a.key_place[3] % 2 == 0
    return None if even else "elements of a key are no whole pairs"


def _interleaved(heads, steps, batch, depth, parts=3):
    """Return attributes for `parts` parts per head in (steps, batch, heads * parts * depth)."""
    width = heads * parts * depth
    place = (width, parts * depth, batch * width)
    out = heads * depth
    return {
        "sizes": (batch, heads, steps, steps, depth, depth),
        "query_place": (0, *place),
        "key_place": (depth, *place),
        "value_place": (2 * depth, *place),
        "out_place": (0, out, depth, batch * out),
        "sources": (0, 0, 0),
        "shape": (steps, batch, out),
        "scale": 0.5,
    }


def _consecutive(count, queries, keys, depth, width):
    """Return attributes for consecutive matrices."""
    return {
        "sizes": (1, count, queries, keys, depth, width),
        "query_place": (0, 0, queries * depth, depth),
        "key_place": (0, 0, keys * depth, depth),
        "value_place": (0, 0, keys * width, width),
        "out_place": (0, 0, queries * width, width),
        "sources": (0, 1, 2),
        "shape": (count, queries, width),
        "scale": 0.3,
    }


def _cases():
    """Yield (shapes of the arrays, mask, attributes)."""
    yield [(3, 2, 18)], None, _interleaved(2, 3, 2, 3)
    yield [(70, 1, 66)], None, _interleaved(2, 70, 1, 11)
    yield [(2, 5, 3), (2, 4, 3), (2, 4, 6)], None, _consecutive(2, 5, 4, 3, 6)
    large = _consecutive(1, 15, 530, 5, 33)  # several blocks of keys
    shapes = [(1, 15, 5), (1, 530, 5), (1, 530, 33)]
    yield shapes, None, large
    half = values(0, 2, (530,), "int32")
    kept = lambda rng: half(rng).astype("bool")  # noqa: E731 - a sample's input
    yield shapes, kept, {**large, "masking": "keep", "mask_place": (0, 0, 0, 1)}
    added = values(-4, 4, (15, 530))
    yield shapes, added, {**large, "masking": "add", "mask_place": (0, 0, 530, 1)}
    some = values(-1, 600, (15,), "int64")
    yield shapes, some, {**large, "masking": "length", "mask_place": (0, 0, 1, 0)}
    small, shapes = _consecutive(2, 5, 4, 3, 6), [(2, 5, 3), (2, 4, 3), (2, 4, 6)]
    rows = values(0, 2, (2, 5), "int32")
    kept = lambda rng: rows(rng).astype("bool")  # noqa: E731 - entire rows masked out
    yield shapes, kept, {**small, "masking": "keep", "mask_place": (0, 5, 1, 0)}
    some = values(-1, 6, (2, 5), "int32")
    yield shapes, some, {**small, "masking": "length", "mask_place": (0, 5, 1, 0)}
    yield (
        [(2, 40), (2, 4, 9)],
        None,
        {  # gaps, and keys next to values
            **small,
            "query_place": (1, 0, 20, 4),
            "key_place": (0, 0, 36, 9),
            "value_place": (3, 0, 36, 9),
            "sources": (0, 1, 1),
        },
    )


class _Attention:
    """Attributes of both operators."""

    sizes: LongTuple
    query_place: LongTuple
    key_place: LongTuple
    value_place: LongTuple
    out_place: LongTuple
    sources: LongTuple
    shape: Shape
    scale: Double = 1.0
    masking: Enum(*_MASKINGS) = "none"
    mask_place: LongTuple = (0, 0, 0, 0)


@op("_attention", inputs="first second? third? mask?", outputs="output stats", visible=1)
class Attention(_Attention):
    """Compute softmax(scale * queries keys' + mask) values for many strided matrices.

    `sizes` is (outer, inner, queries, keys, depth, width): outer * inner matrices of `queries`
    queries and `keys` keys with `depth` elements each, and of `keys` values with `width` elements.
    Places locate them, and `sources` names their arrays. `shape` is the shape of the results, which
    fill it. `masking` is the meaning of the mask: values added to the scores, a boolean mask, or
    row lengths; `mask_place` holds its (outer, inner, row, column) strides. Fully masked rows
    give 0. Gradients flow to the arrays, not to the mask.
    """

    dtypes = ("float32", "float64")
    kernels = (_kernel("attention", 0),)
    arguments = _arguments

    def samples():
        for shapes, mask, attrs in _cases():
            small = attrs["sizes"][3] < 10
            grad = small and attrs.get("masking", "none") in ("none", "length")
            yield sample(*shapes, *(() if mask is None else (mask,)), **attrs, grad=grad, tol=4)

    def infer(a, *specs):
        return _check(a, *_split(a, specs))

    def grad(a, F, g, outs, inputs):
        slopes = F._attention_grad(g[0], outs[0], outs[1], *inputs, **_attributes(a))
        slopes = slopes if isinstance(slopes, (list, tuple)) else (slopes,)
        return (*slopes, *[None] * (len(inputs) - len(slopes)))

    ref = _result


@op("_mixed_attention", inputs="first second? third? mask?")
class MixedAttention(_Attention):
    """Compute `_attention` of bfloat16 arrays in float32; the result is bfloat16.

    An added mask is float32. Exponentials may be rounded to bfloat16 before they are multiplied by
    the values.
    """

    dtypes = ("bfloat16",)
    kernels = (_kernel("attention_bf16", 0, _refuse_odd),)
    arguments = _arguments

    def samples():
        for steps in (5, 40):
            yield sample((steps, 2, 96), grad=False, **_interleaved(2, steps, 2, 16))

    def infer(a, *specs):
        arrays, mask = _split(a, specs)
        out, _ = _check(a, [parameters_of(spec) for spec in arrays], mask)
        return Spec(out.shape, arrays[0].dtype)

    def ref(a, xp, *inputs):
        return _result(a, xp, *inputs)[0]


@op(
    "_attention_grad",
    inputs="grad result stats first second? third? mask?",
    outputs=lambda a: tuple(f"{name}_grad" for name in _ARRAYS[: _count(a)]),
)
class AttentionGradients(_Attention):
    """Gradients of _attention with respect to its arrays; scores are recomputed.

    `stats` holds each row's maximum score and the reciprocal of its sum of exponentials.
    """

    dtypes = ("float32", "float64")
    kernels = (_kernel("attention_grad", 3),)
    grad = no_rule

    def arguments(a):
        return ("grad", "result", "stats", *_arguments(a))

    def samples():
        for shapes, mask, attrs in _cases():
            stats = values(0.5, 0.6, (attrs["sizes"][0] * attrs["sizes"][1], attrs["sizes"][2], 2))
            inputs = (attrs["shape"], attrs["shape"], stats, *shapes)
            mask = () if mask is None else (mask,)
            yield sample(*inputs, *mask, **attrs, grad=False, tol=8)

    def infer(a, grad, result, stats, *specs):
        arrays, mask = _split(a, specs)
        out, numbers = _check(a, arrays, mask)
        for name, spec, like in (
            ("grad", grad, out),
            ("result", result, out),
            ("stats", stats, numbers),
        ):
            spec.fill(name, like.shape, like.dtype)
        return tuple(Spec(spec.shape, spec.dtype) for spec in arrays)

    ref = _gradients
