"""Common parts of single-weight updates: attributes, inference, multi-precision forms.

All of them first multiply the gradient by `rescale_grad` and, unless `clip_gradient` is negative,
clip it to [-clip_gradient, clip_gradient]. They differ in where weight decay is added.
Multi-precision forms keep a float32 copy of a half-precision weight among their states.
"""

from mxcy._base import dtypes
from mxcy.ops.core.attrs import Bool, Dynamic, Field, Single
from mxcy.ops.core.infer import Spec, require, same_dtype
from mxcy.ops.core.record import native, register, sample, values

__all__ = [
    "BETAS",
    "CLIP",
    "LAZY",
    "LR",
    "MOMENTUM",
    "RESCALE",
    "TRIES",
    "WD",
    "clipped",
    "decayed",
    "infer_update",
    "number",
    "optimizer",
    "require_size",
    "scaled",
    "tries_with",
    "widened",
]

_FLOAT32 = 0


def number(name, default=None, kind=Single):
    """Return a numeric attribute that may change per call; required if it has no default."""
    return Field(name, Dynamic(kind)) if default is None else Field(name, Dynamic(kind), default)


LR, WD, RESCALE = number("lr"), number("wd", 0.0), number("rescale_grad", 1.0)
CLIP, MOMENTUM = number("clip_gradient", -1.0), number("momentum", 0.0)
BETAS = (number("beta1", 0.899999976), number("beta2", 0.999000013))
LAZY = Field("lazy_update", Bool, True)


def widened(xp, array):
    """Convert float16 to float32 for computation; other dtypes are unchanged."""
    return array.astype(xp.float32) if array.dtype == xp.float16 else array


def clipped(xp, x, bound):
    """Clip `x` to [-bound, bound], unless the bound is negative."""
    return xp.clip(x, -bound, bound) if bound >= 0 else x


def scaled(a, xp, grad):
    """Return the gradient, rescaled and clipped."""
    return clipped(xp, grad * a.rescale_grad, a.clip_gradient)


def decayed(a, xp, weight, grad):
    """Return the gradient with weight decay, rescaled and clipped."""
    return clipped(xp, grad * a.rescale_grad + a.wd * weight, a.clip_gradient)


def require_size(spec, name, size=1):
    """Raise for arrays with another number of elements."""
    fits = spec.shape is None or -1 in spec.shape or spec.size == size
    elements = "one element" if size == 1 else f"{size} elements"
    require(fits, f"{name}: expected an array with {elements}, got {spec}")


def infer_update(names, same, extra):
    """Return the inference rule of an update.

    Parameters
    ----------
    names : tuple of str
        Input names; the first two are weight and grad.
    same : int
        Number of inputs with the weight's dtype; others except the extra ones are float32.
    extra : int
        Number of inputs at the end that are scalars in arrays of shape (1,).
    """
    n = len(names) - extra

    def infer(a, *specs):
        shape = next((spec.shape for spec in specs[:n] if spec.shape is not None), None)
        for name, spec in zip(names[:n], specs[:n], strict=True):
            spec.fill(name, shape)
        dtype = same_dtype(specs[:same], names[:same])
        floating = dtype is None or dtypes.is_float(dtype)
        require(floating, f"weight: expected a floating dtype, got {specs[0]}")
        for name, spec in zip(names[same:n], specs[same:n], strict=True):
            spec.fill(name, dtype=_FLOAT32)
        for name, spec in zip(names[n:], specs[n:], strict=True):
            require_size(spec, name)
            spec.fill(name, dtype=spec.dtype or _FLOAT32)
        return Spec(shape, dtype)

    return infer


def _mixed(step, states):
    """Return a step on the float32 copy of the weight, the last of the states."""

    def mixed(a, xp, weight, grad, *inputs):
        kept, weight32, others = inputs[:states], inputs[states], inputs[states + 1 :]
        out, *moved = step(a, xp, weight32, widened(xp, grad), *kept, *others)
        return out, *moved, out

    return mixed


def _plain(step):
    def plain(a, xp, *arrays):
        results = step(a, xp, *(widened(xp, array) for array in arrays))
        return results if len(results) > 1 else results[0]

    return plain


def _refuse_scales(a, ins, outs):
    return None if ins[-1].dtype == _FLOAT32 else "the scale of the gradient is not float32"


def optimizer(
    name,
    states,
    fields,
    step,
    doc,
    mixed=None,
    aliases=(),
    positive=(),
    tries=({},),
    extra=(),
    struct=None,
    stypes=(),
):
    """Register a single-weight update and its multi-precision form.

    Parameters
    ----------
    name : str
    states : str
        Names of the state inputs, which follow weight and grad.
    fields : tuple of Field
    step : callable
        ``step(a, xp, weight, grad, *states, *extra)`` returns the new weight and the new states.
    doc : str
    mixed : str, optional
        Name of the multi-precision form, whose states are followed by `weight32`.
    aliases : tuple of str
    positive : tuple of str
        Non-negative states, such as a mean of squares.
    tries : tuple of dict
        Attributes of the samples.
    extra : tuple of str
        Names of single-element, read-only inputs after the states.
    struct : Params, optional
        Parameter struct of the kernels, which have the operators' names; None if there are none.
    stypes : tuple of Rule
        Rules for sparse gradients.
    """
    states, shape = tuple(states.split()), (3, 5)

    def draw(name, dtype=None):
        low = 0.1 if name in positive or name in extra else -1
        return values(low, 1, (1,) if name in extra else shape, dtype)

    def kernels(name):
        if struct is None:
            return ()
        when = _refuse_scales if extra else None
        return (native(name, struct=struct, when=when, inplace=True, mixed=True),)

    names = ("weight", "grad", *states, *extra)
    register(
        name,
        aliases=aliases,
        inputs=" ".join(names),
        fields=fields,
        mutates=states,
        infer=infer_update(names, 2 + len(states), len(extra)),
        ref=_plain(step),
        stypes=stypes,
        kernels=kernels(name),
        doc=doc,
        dtypes=("float32", "float64", "float16", "bfloat16"),
        samples=tuple(sample(*map(draw, names), tol=4, **attrs) for attrs in tries),
    )
    if mixed is None:
        return
    names = ("weight", "grad", *states, "weight32", *extra)
    drawn = [*map(draw, names[:2]), *(draw(n, "float32") for n in names[2:])]
    register(
        mixed,
        inputs=" ".join(names),
        fields=fields,
        mutates=(*states, "weight32"),
        infer=infer_update(names, 2, len(extra)),
        ref=_mixed(step, len(states)),
        kernels=kernels(mixed),
        dtypes=("float16", "bfloat16", "float32"),
        doc=f"{doc}\n\nMulti-precision form of {name}: `weight32` is the weight in float32.",
        samples=tuple(sample(*drawn, tol=4, **attrs) for attrs in tries),
    )


TRIES = (
    {"lr": 0.1, "wd": 0.01},
    {"lr": 0.1, "wd": 0.01, "rescale_grad": 0.5, "clip_gradient": 0.2},
)


def tries_with(**more):
    """Return the usual attributes of samples, extended by others."""
    return tuple({**attrs, **more} for attrs in TRIES)
