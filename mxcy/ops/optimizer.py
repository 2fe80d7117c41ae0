"""Optimizer updates of one weight: each returns the new weight and writes its states.

The first step of all of them is the same: the gradient is multiplied by `rescale_grad` and, unless
`clip_gradient` is negative, clipped to [-clip_gradient, clip_gradient]. Where weight decay is added
differs. Multi-precision forms keep a float32 copy of a half-precision weight among their states.
"""

from mxcy import dtypes
from mxcy.ops.attrs import Bool, Dynamic, Field, Float
from mxcy.ops.infer import Spec, require, same_dtype
from mxcy.ops.record import register, sample, values

__all__ = ["clipped", "number", "optimizer", "widened"]

_FLOAT32 = 0


def number(name, default=None, kind=Float):
    """A float attribute that may change from call to call; required without a default."""
    return Field(name, Dynamic(kind)) if default is None else Field(name, Dynamic(kind), default)


LR, WD, RESCALE = number("lr"), number("wd", 0.0), number("rescale_grad", 1.0)
CLIP, MOMENTUM = number("clip_gradient", -1.0), number("momentum", 0.0)
_LAZY = Field("lazy_update", Bool, True)


def widened(xp, array):
    """float16 as float32, in which updates are computed; other dtypes unchanged."""
    return array.astype(xp.float32) if array.dtype == xp.float16 else array


def clipped(xp, x, bound):
    """`x` within [-bound, bound]; unchanged when the bound is negative."""
    return xp.clip(x, -bound, bound) if bound >= 0 else x


def scaled(a, xp, grad):
    """The gradient rescaled and clipped."""
    return clipped(xp, grad * a.rescale_grad, a.clip_gradient)


def _infer(names, master):
    def infer(a, *specs):
        shape = next((spec.shape for spec in specs if spec.shape is not None), None)
        for name, spec in zip(names, specs, strict=True):
            spec.fill(name, shape)
        same = 2 if master else len(names)
        dtype = same_dtype(specs[:same], names[:same])
        require(
            dtype is None or dtypes.is_float(dtype),
            f"weight: expected a floating dtype, got {specs[0]}",
        )
        for name, spec in zip(names[same:], specs[same:], strict=True):
            spec.fill(name, dtype=_FLOAT32)
        return Spec(shape, dtype)

    return infer


def _mixed(step):
    """A step on the float32 copy of the weight, which is the last of the states."""

    def mixed(a, xp, weight, grad, *states):
        out, *moved = step(a, xp, states[-1], widened(xp, grad), *states[:-1])
        return out, *moved, out

    return mixed


def _widened_step(step):
    def run(a, xp, *arrays):
        return step(a, xp, *(widened(xp, array) for array in arrays))

    return run


def optimizer(
    name, states, fields, step, doc, mixed=None, aliases=(), positive=(), tries=({},), kernel=()
):
    """Register an update, and its multi-precision form.

    Parameters
    ----------
    name : str
    states : str
        Names of the state inputs, which follow weight and grad.
    fields : tuple of Field
    step : callable
        ``step(a, xp, weight, grad, *states)`` returns the new weight and the new states.
    doc : str
    mixed : str, optional
        The name of the multi-precision form: its states are followed by `weight32`.
    aliases : tuple of str
    positive : tuple of str
        States that are never negative, such as a mean of squares.
    tries : tuple of dict
        Attributes of the samples.
    kernel : tuple of Native
        Kernels of both forms.
    """
    names = ("weight", "grad", *states.split())
    shape = (3, 5)
    draw = {n: values(0.1, 1, shape) if n in positive else values(-1, 1, shape) for n in names}
    register(
        name,
        aliases=aliases,
        inputs=" ".join(names),
        fields=fields,
        mutates=names[2:],
        infer=_infer(names, False),
        ref=_widened_step(step) if names[2:] else _single(step),
        kernels=kernel,
        dtypes=("float32", "float64", "float16", "bfloat16"),
        doc=doc,
        samples=tuple(sample(*(draw[n] for n in names), tol=4, **attrs) for attrs in tries),
    )
    if mixed is None:
        return
    names = (*names, "weight32")
    shared = {
        n: values(0.1, 1, shape, "float32") if n in positive else values(-1, 1, shape, "float32")
        for n in names[2:]
    }
    register(
        mixed, inputs=" ".join(names), fields=fields, mutates=names[2:], infer=_infer(names, True),
        ref=_mixed(step), kernels=kernel, dtypes=("float16", "bfloat16", "float32"),
        doc=f"{doc}\n\nMulti-precision form of {name}: `weight32` is the weight in float32.",
        samples=tuple(
            sample(draw["weight"], draw["grad"], *(shared[n] for n in names[2:]), tol=4, **attrs)
            for attrs in tries
        ),
    )  # fmt: skip


def _single(step):
    run = _widened_step(step)
    return lambda a, xp, *arrays: run(a, xp, *arrays)[0]


_TRIES = (
    {"lr": 0.1, "wd": 0.01},
    {"lr": 0.1, "wd": 0.01, "rescale_grad": 0.5, "clip_gradient": 0.2},
)


def with_attributes(**more):
    """The usual tries with more attributes."""
    return tuple({**attrs, **more} for attrs in _TRIES)


def _sgd(a, xp, weight, grad):
    return ((1 - a.lr * a.wd) * weight - a.lr * scaled(a, xp, grad),)


def _sgd_mom(a, xp, weight, grad, mom):
    mom = a.momentum * mom - a.lr * a.wd * weight - a.lr * scaled(a, xp, grad)
    return weight + mom, mom


optimizer(
    "sgd_update", "", (LR, WD, RESCALE, CLIP, _LAZY), _sgd,
    """Gradient descent: ``weight - lr * (grad + wd * weight)``, the gradient rescaled and clipped.

    `lazy_update` concerns sparse gradients only.
    """,
    mixed="mp_sgd_update", aliases=("_sparse_sgd_update",), tries=_TRIES,
)  # fmt: skip
optimizer(
    "sgd_mom_update",
    "mom",
    (LR, MOMENTUM, WD, RESCALE, CLIP, _LAZY),
    _sgd_mom,
    """Gradient descent with momentum.

    ``mom = momentum * mom - lr * (grad + wd * weight)`` with the gradient rescaled and clipped,
    then ``weight + mom``. `lazy_update` concerns sparse gradients only.
    """,
    mixed="mp_sgd_mom_update",
    aliases=("_sparse_sgd_mom_update",),
    tries=with_attributes(momentum=0.9),
)


def _adam(a, xp, weight, grad, mean, var):
    grad = clipped(xp, grad * a.rescale_grad + a.wd * weight, a.clip_gradient)
    mean = a.beta1 * mean + (1 - a.beta1) * grad
    var = a.beta2 * var + (1 - a.beta2) * grad * grad
    return weight - a.lr * mean / (xp.sqrt(var) + a.epsilon), mean, var


_BETAS = (number("beta1", 0.899999976), number("beta2", 0.999000013))

optimizer(
    "adam_update",
    "mean var",
    (LR, *_BETAS, number("epsilon", 9.99999994e-09), WD, RESCALE, CLIP, _LAZY),
    _adam,
    """Adam, without the correction of the first steps, which callers put into `lr`.

    Mean and var are moving averages of the gradient and of its square: ``weight - lr * mean /
    (sqrt(var) + epsilon)``. Weight decay is part of the gradient, before clipping. `lazy_update`
    concerns sparse gradients only.
    """,
    aliases=("_sparse_adam_update",),
    positive=("var",),
    tries=_TRIES,
)
