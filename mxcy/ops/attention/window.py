"""Sliding window attention.

Each step of a sequence attends only to steps around it: at multiples of a head's dilation, `w` to
the left, itself, and, if `symmetric`, `w` to the right. Definition: Beltagy et al. (2020),
Longformer. Scores, contexts and a third map, the transpose of the context, are each other's
gradients.
"""

from mxcy._base.dtypes import code_of
from mxcy.ops.core.attrs import Bool, Field, Int
from mxcy.ops.core.infer import Spec, require, same_dtype
from mxcy.ops.core.params import WINDOW
from mxcy.ops.core.record import native, register, sample, stop, values
from mxcy.ops.norm.batch import require_float

__all__ = []

_FIELDS = (Field("w", Int), Field("symmetric", Bool))


def _width(a):
    require(a.w >= 0, f"w: expected 0 or more, got {a.w}")
    return 2 * a.w + 1 if a.symmetric else a.w + 1


def _seen(a, xp, steps, dilation):
    """Yield the steps (steps, heads) seen at each window position, and whether they exist."""
    require(bool((dilation >= 1).all()), "dilation: expected 1 or more")
    for place in range(_width(a)):
        seen = xp.arange(steps)[:, None] + (place - a.w) * dilation.astype("int64")
        yield place, xp.clip(seen, 0, steps - 1), (seen >= 0) & (seen < steps)


def _infer_dilation(dilation, heads):
    dilation.fill("dilation", (heads,))


def _infer_score(a, query, key, dilation):
    dtype = same_dtype((query, key), ("query", "key"))
    require_float(query, "query")
    query.fill("query", (-1, -1, -1, -1))
    key.fill("key", query.shape)
    _infer_dilation(dilation, query.shape[2])
    return Spec((*query.shape[:3], _width(a)), dtype)


def _score(a, xp, query, key, dilation):
    out = xp.zeros((*query.shape[:3], _width(a)), query.dtype)
    heads = xp.arange(query.shape[2])
    for place, seen, exists in _seen(a, xp, query.shape[1], dilation):
        out[..., place] = xp.where(exists, (query * key[:, seen, heads]).sum(-1), 0)
    return out


def _infer_context(a, score, value, dilation):
    dtype = same_dtype((score, value), ("score", "value"))
    require_float(score, "score")
    score.fill("score", (-1, -1, -1, _width(a)))
    value.fill("value", (*score.shape[:3], -1))
    _infer_dilation(dilation, score.shape[2])
    return Spec(value.shape, dtype)


def _context(a, xp, score, value, dilation):
    out, heads = xp.zeros_like(value), xp.arange(value.shape[2])
    for place, seen, exists in _seen(a, xp, value.shape[1], dilation):
        out += xp.where(exists, score[..., place], 0)[..., None] * value[:, seen, heads]
    return out


def _sent(a, xp, score, value, dilation):
    out, heads = xp.zeros_like(value), xp.arange(value.shape[2])
    for place, seen, exists in _seen(a, xp, value.shape[1], dilation):
        parts = xp.where(exists, score[..., place], 0)[..., None] * value
        xp.add.at(out, (slice(None), seen, heads), parts)
    return out


def _infer_mask(a, score, dilation, valid_length):
    score.fill("score", (-1, -1, -1, _width(a)))
    _infer_dilation(dilation, score.shape[2])
    valid_length.fill("valid_length", (score.shape[0],))
    return Spec(score.shape, score.dtype)


def _mask(a, xp, score, dilation, valid_length):
    require(bool((dilation >= 1).all()), "dilation: expected 1 or more")
    steps, length = score.shape[1], valid_length.astype("int64")[:, None, None]
    own = xp.arange(steps)[:, None]
    out = xp.zeros_like(score)
    for place in range(_width(a)):
        seen = own + (place - a.w) * dilation.astype("int64")
        out[..., place] = (seen >= 0) & (seen < length) & (own < length)
    return out


def _kernel(name):
    """Return the native kernel, for int32 dilations and lengths."""

    def params(a, ins, outs):
        batch, steps, heads, depth = ins[1].shape if len(ins[1].shape) == 4 else ins[0].shape
        return {
            "batch": batch,
            "steps": steps,
            "heads": heads,
            "depth": depth,
            "w": a.w,
            "places": _width(a),
        }

    def when(a, ins, outs):
        if 0 in outs[0].shape or 0 in ins[0].shape:
            return "nothing to compute"
        types = [spec.dtype for spec in ins if len(spec.shape) == 1]
        return None if set(types) == {code_of("int32")} else "dilation or valid_length is not int32"

    def work(a, ins, outs):
        # A vector's worth of multiply-adds is one elementwise step.
        return max(spec.size for spec in (*ins, *outs)) * (1 + _width(a) // 16)

    return native(name, struct=WINDOW, params=params, when=when, work=work, mixed=True)


def _attrs(a):
    return {"w": a.w, "symmetric": a.symmetric}


_DILATION = values(1, 3, (2,), "int32")
_SAMPLES = ({"w": 1, "symmetric": True}, {"w": 2, "symmetric": False})

register(
    "_contrib_sldwin_atten_score",
    aliases=("_npx_sldwin_atten_score",),
    doc="""Compute the products of queries with the keys in a sliding window.

The window has ``2 * w + 1`` positions around a step if `symmetric`, otherwise ``w + 1`` up to the
step itself, `dilation` (1 or more) steps apart. Positions outside the sequence give 0.

Shapes: query and key (batch, steps, heads, depth), dilation (heads,), score (batch, steps, heads,
places).""",
    inputs="query key dilation",
    outputs="score",
    fields=_FIELDS,
    infer=_infer_score,
    grad=lambda a, F, g, query, key, dilation: (
        F._contrib_sldwin_atten_context(g, key, dilation, **_attrs(a)),
        F._sldwin_atten_sent(g, query, dilation, **_attrs(a)),
    ),
    ref=_score,
    kernels=(_kernel("window_score"),),
    samples=[sample((2, 5, 2, 3), (2, 5, 2, 3), _DILATION, **attrs) for attrs in _SAMPLES],
    amp="fp32",
)
register(
    "_contrib_sldwin_atten_context",
    aliases=("_npx_sldwin_atten_context",),
    doc="""Compute the score-weighted sums of the values in a sliding window.

Shapes: score (batch, steps, heads, places), value and context_vec (batch, steps, heads, depth),
dilation (heads,). For the window see sldwin_atten_score.""",
    inputs="score value dilation",
    outputs="context_vec",
    fields=_FIELDS,
    infer=_infer_context,
    grad=lambda a, F, g, score, value, dilation: (
        F._contrib_sldwin_atten_score(g, value, dilation, **_attrs(a)),
        F._sldwin_atten_sent(score, g, dilation, **_attrs(a)),
    ),
    ref=_context,
    kernels=(_kernel("window_context"),),
    samples=[sample((2, 5, 2, 3), (2, 5, 2, 4), _DILATION, **attrs) for attrs in _SAMPLES],
    amp="fp32",
)
register(
    "_sldwin_atten_sent",
    doc="""Apply the transpose of sldwin_atten_context with respect to the values.

Shapes: score (batch, steps, heads, places), value and output (batch, steps, heads, depth), dilation
(heads,).""",
    inputs="score value dilation",
    fields=_FIELDS,
    infer=_infer_context,
    grad=lambda a, F, g, score, value, dilation: (
        F._contrib_sldwin_atten_score(value, g, dilation, **_attrs(a)),
        F._contrib_sldwin_atten_context(score, g, dilation, **_attrs(a)),
    ),
    ref=_sent,
    kernels=(_kernel("window_sent"),),
    samples=[sample((2, 5, 2, 3), (2, 5, 2, 4), _DILATION, **attrs) for attrs in _SAMPLES],
)
register(
    "_contrib_sldwin_atten_mask_like",
    aliases=("_npx_sldwin_atten_mask_like",),
    doc="""Return a mask: 1 where sldwin_atten_score pairs two steps of the sequence, else 0.

Shapes: score and mask (batch, steps, heads, places), dilation (heads,), valid_length (batch,). No
gradient flows.""",
    inputs="score dilation valid_length",
    outputs="mask",
    fields=_FIELDS,
    infer=_infer_mask,
    grad=stop,
    ref=_mask,
    kernels=(_kernel("window_mask"),),
    ignores=("score",),
    samples=[
        sample((2, 5, 2, 3), _DILATION, values(2, 6, (2,), "int32"), grad=False, **attrs)
        for attrs in _SAMPLES
    ],
    amp="fp32",
)
