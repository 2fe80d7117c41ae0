"""Layer-wise adaptive updates, with steps depending on weight norms: LAMB and LARS."""

from mxcy.ops.core.attrs import Bool, Field, Float, Int
from mxcy.ops.core.infer import Spec, require, same_dtype
from mxcy.ops.core.params import LAMB, LAMB_STEP
from mxcy.ops.core.record import native, op, register, sample, values
from mxcy.ops.optimizer.definitions import (
    BETAS,
    CLIP,
    LR,
    RESCALE,
    infer_update,
    number,
    require_size,
    scaled,
    widened,
)

__all__ = ["adam_direction", "bounded", "lamb_direction"]

_FLOAT32 = 0


def bounded(a, xp, norm):
    """Clip a norm to those bounds that are non-negative."""
    norm = xp.maximum(norm, a.lower_bound) if a.lower_bound >= 0 else norm
    return xp.minimum(norm, a.upper_bound) if a.upper_bound >= 0 else norm


def adam_direction(a, xp, grad, mean, var, t):
    """Return Adam's moving averages, and the bias-corrected mean and root of its direction."""
    mean = a.beta1 * mean + (1 - a.beta1) * grad
    var = a.beta2 * var + (1 - a.beta2) * grad * grad
    first, second = 1.0, 1.0
    if getattr(a, "bias_correction", True):
        first, second = 1 - a.beta1**t, 1 - a.beta2**t
    return mean, var, mean / first, xp.sqrt(var / second) + a.epsilon


def lamb_direction(a, xp, weight, grad, mean, var, t, wd):
    """Return LAMB's direction, and the new mean and var."""
    mean, var, top, bottom = adam_direction(a, xp, scaled(a, xp, grad), mean, var, t)
    return top / bottom + wd * weight, mean, var


def _phase1(a, xp, weight, grad, mean, var):
    weight, grad, mean, var = (widened(xp, x) for x in (weight, grad, mean, var))
    return lamb_direction(a, xp, weight, grad, mean, var, a.t, a.wd)


def _mp_phase1(a, xp, weight, grad, mean, var, weight32):
    # The fifth input is read-only: phase 2 updates the weight.
    return _phase1(a, xp, weight32, grad, mean, var)


def _phase2(a, xp, weight, g, r1, r2):
    weight, g = widened(xp, weight), widened(xp, g)
    norm = bounded(a, xp, r1.reshape(()))
    r2 = r2.reshape(())
    trust = xp.where((norm == 0) | (r2 == 0), 1, norm / xp.where(r2 == 0, 1, r2))
    return weight - (a.lr * trust).astype(weight.dtype) * g


def _mp_phase2(a, xp, weight, g, r1, r2, weight32):
    out = _phase2(a, xp, weight32, g, r1, r2)
    return out, out


def _infer_mp_phase1(a, *specs):
    out = infer_update(("weight", "grad", "mean", "var", "weight32"), 2, 0)(a, *specs)
    return Spec(out.shape, _FLOAT32)


def _infer_phase2(a, weight, g, r1, r2):
    out = infer_update(("weight", "g", "r1", "r2"), 2, 2)(a, weight, g, r1, r2)
    same_dtype((weight, r1, r2), ("weight", "r1", "r2"))
    return out


def _infer_mp_phase2(a, weight, g, r1, r2, weight32):
    for name, spec in (("g", g), ("r1", r1), ("r2", r2), ("weight32", weight32)):
        spec.fill(name, dtype=_FLOAT32)
    out = infer_update(("weight", "weight32"), 1, 0)(a, weight, weight32)
    g.fill("g", out.shape)
    require_size(r1, "r1")
    require_size(r2, "r2")
    return out


_PHASE1 = (
    *BETAS,
    number("epsilon", 9.99999997e-07),
    number("t", kind=Int),
    Field("bias_correction", Bool, True),
    number("wd"),
    RESCALE,
    CLIP,
)
_PHASE2 = (LR, number("lower_bound", -1.0), number("upper_bound", -1.0))
_SHAPE = (3, 37)
_NORM = values(0.5, 2, (1,))
_PHASE1_TRIES = (
    {"t": 3, "wd": 0.1},
    {"t": 1, "wd": 0.1, "bias_correction": False, "rescale_grad": 2.0, "clip_gradient": 0.4},
)
_PHASE2_TRIES = ({"lr": 0.1}, {"lr": 0.1, "lower_bound": 0.9, "upper_bound": 1.1})


def _phase1_kernel(name):
    def params(a, ins, outs):
        return {"bias_correction": a.bias_correction}

    return (native(name, LAMB, params, mixed=True),)


def _f32(low=-1.0, shape=_SHAPE):
    return values(low, 2.0 if low > 0 else 1.0, shape, "float32")


_PHASE1_DOC = """Compute phase 1 of LAMB: the direction of the step.

mean and var are moving averages of the gradient, rescaled and clipped, and of its square; with
`bias_correction` they are divided by one minus their decay to the power `t`. The result is
``mean / (sqrt(var) + epsilon) + wd * weight``."""
_PHASE2_DOC = """Apply phase 2 of LAMB: ``weight - lr * trust * g`` along the direction `g`.

``trust = r1 / r2``, where `r1` is the norm of the weight, clipped to the non-negative bounds, and
`r2` that of the direction; 1 if either is zero."""

register(
    "lamb_update_phase1",
    inputs="weight grad mean var",
    fields=_PHASE1,
    mutates=("mean", "var"),
    infer=infer_update(("weight", "grad", "mean", "var"), 4, 0),
    ref=_phase1,
    kernels=_phase1_kernel("lamb_update_phase1"),
    doc=_PHASE1_DOC,
    dtypes=("float32", "float64", "float16", "bfloat16"),
    samples=tuple(
        sample(_SHAPE, _SHAPE, _SHAPE, values(0.1, 1, _SHAPE), tol=8, **attrs)
        for attrs in _PHASE1_TRIES
    ),
)
register(
    "mp_lamb_update_phase1",
    inputs="weight grad mean var weight32",
    fields=_PHASE1,
    mutates=("mean", "var"),
    aux=("mean", "var", "weight32"),
    infer=_infer_mp_phase1,
    ref=_mp_phase1,
    kernels=_phase1_kernel("mp_lamb_update_phase1"),
    doc=f"{_PHASE1_DOC} It is in float32, as are all inputs but weight and grad.",
    dtypes=("float16", "bfloat16", "float32"),
    samples=tuple(
        sample(_SHAPE, _SHAPE, _f32(), _f32(0.1), _f32(), tol=8, **attrs) for attrs in _PHASE1_TRIES
    ),
)
register(
    "lamb_update_phase2",
    inputs="weight g r1 r2",
    fields=_PHASE2,
    infer=_infer_phase2,
    ref=_phase2,
    kernels=(native("lamb_update_phase2", LAMB_STEP, inplace=True),),
    doc=_PHASE2_DOC,
    samples=tuple(sample(_SHAPE, _SHAPE, _NORM, _NORM, tol=4, **attrs) for attrs in _PHASE2_TRIES),
)
register(
    "mp_lamb_update_phase2",
    inputs="weight g r1 r2 weight32",
    fields=_PHASE2,
    mutates=("weight32",),
    infer=_infer_mp_phase2,
    ref=_mp_phase2,
    kernels=(native("mp_lamb_update_phase2", LAMB_STEP, mixed=True),),
    doc=f"{_PHASE2_DOC} All inputs but the weight are float32.",
    dtypes=("float16", "bfloat16", "float32"),
    samples=tuple(
        sample(_SHAPE, _f32(), _f32(0.5, (1,)), _f32(0.5, (1,)), _f32(), tol=4, **attrs)
        for attrs in _PHASE2_TRIES
    ),
)


@op("multi_lars", inputs="lrs weights_sum_sq grads_sum_sq wds")
class MultiLars:
    """Compute the learning rates of LARS for several weights.

    ``lrs * eta * w / (g * rescale_grad + wds * w + eps)`` with the norms w and g of the weights and
    gradients, given as squares; the learning rate is unchanged if a norm is zero. All arrays have
    one element per weight.
    """

    eta: Float
    eps: Float
    rescale_grad: Float = 1.0

    domain = (0.1, 2.0)
    samples = (
        sample((4,), (4,), (4,), (4,), eta=0.5, eps=1e-3, tol=4),
        sample((4,), (4,), (4,), (4,), eta=0.5, eps=1e-3, rescale_grad=0.5, tol=4),
    )

    def infer(a, *specs):
        names = ("lrs", "weights_sum_sq", "grads_sum_sq", "wds")
        shape = next((spec.shape for spec in specs if spec.shape is not None), None)
        for name, spec in zip(names, specs, strict=True):
            spec.fill(name, shape)
        dtype = same_dtype(specs, names)
        require(shape is None or len(shape) == 1, f"lrs: expected one dimension, got {shape}")
        return Spec(shape, dtype)

    def ref(a, xp, lrs, weights_sum_sq, grads_sum_sq, wds):
        weight, grad = xp.sqrt(weights_sum_sq), xp.sqrt(grads_sum_sq) * a.rescale_grad
        ratio = a.eta * weight / (grad + wds * weight + a.eps)
        return lrs * xp.where((weight > 0) & (grad > 0), ratio, 1).astype(lrs.dtype)
