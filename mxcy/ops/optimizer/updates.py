"""Single-weight optimizer updates: return the new weight, update the states in place."""

from mxcy.ops.core.params import ADAM, ADAMW, SGD, SGD_MOM, SIGNUM
from mxcy.ops.optimizer.definitions import (
    BETAS,
    CLIP,
    LAZY,
    LR,
    MOMENTUM,
    RESCALE,
    TRIES,
    WD,
    clipped,
    decayed,
    number,
    optimizer,
    scaled,
    tries_with,
)
from mxcy.ops.sparse.update_rules import by_rows

__all__ = [
    "SMALL",
    "adabelief_step",
    "adam_step",
    "adamw_step",
    "nag_step",
    "sgd_mom_step",
    "sgd_step",
]


def sgd_step(a, xp, weight, grad):
    """Return one step of SGD."""
    return ((1 - a.lr * a.wd) * weight - a.lr * scaled(a, xp, grad),)


def sgd_mom_step(a, xp, weight, grad, mom):
    """Return one step of SGD with momentum."""
    mom = a.momentum * mom - a.lr * a.wd * weight - a.lr * scaled(a, xp, grad)
    return weight + mom, mom


optimizer(
    "sgd_update",
    "",
    (LR, WD, RESCALE, CLIP, LAZY),
    sgd_step,
    """Update a weight by SGD: ``weight - lr * (grad + wd * weight)``.

    The gradient is rescaled and clipped. `lazy_update` affects sparse gradients only.
    """,
    mixed="mp_sgd_update",
    struct=SGD,
    aliases=("_sparse_sgd_update",),
    stypes=by_rows("_row_sgd_update", "default row_sparse", "row_sparse row_sparse"),
    tries=TRIES,
)
optimizer(
    "sgd_mom_update",
    "mom",
    (LR, MOMENTUM, WD, RESCALE, CLIP, LAZY),
    sgd_mom_step,
    """Update a weight by SGD with momentum.

    ``mom = momentum * mom - lr * (grad + wd * weight)`` with the gradient rescaled and clipped, and
    ``weight + mom`` is the new weight. `lazy_update` affects sparse gradients only.
    """,
    mixed="mp_sgd_mom_update",
    struct=SGD_MOM,
    aliases=("_sparse_sgd_mom_update",),
    stypes=by_rows(
        "_row_sgd_mom_update",
        "default row_sparse default",
        "row_sparse row_sparse row_sparse",
        "row_sparse row_sparse default",
    ),
    tries=tries_with(momentum=0.9),
)


def nag_step(a, xp, weight, grad, mom):
    """Return one step of Nesterov's accelerated gradient."""
    grad = scaled(a, xp, grad)
    step = a.lr * (grad + a.wd * weight)
    out = weight + a.momentum * (a.momentum * mom - step) - step
    # A different step: as in MXNet, the momentum uses weight decay of the new weight.
    return out, a.momentum * mom - a.lr * (grad + a.wd * out)


optimizer(
    "nag_mom_update",
    "mom",
    (LR, MOMENTUM, WD, RESCALE, CLIP),
    nag_step,
    """Update a weight by SGD with Nesterov momentum (NAG).

    With ``step = lr * (grad + wd * weight)``, the gradient rescaled and clipped, the new weight is
    ``weight + momentum * (momentum * mom - step) - step`` and the new momentum
    ``momentum * mom - lr * (grad + wd * new_weight)``.
    """,
    mixed="mp_nag_mom_update",
    struct=SGD_MOM,
    tries=tries_with(momentum=0.9),
)


def _signsgd(a, xp, weight, grad):
    return ((1 - a.lr * a.wd) * weight - a.lr * xp.sign(grad),)


def _signum(a, xp, weight, grad, mom):
    mom = a.momentum * mom - (1 - a.momentum) * (a.wd * weight + scaled(a, xp, grad))
    return (1 - a.lr * a.wd_lh) * weight + a.lr * xp.sign(mom), mom


optimizer(
    "signsgd_update",
    "",
    (LR, WD, RESCALE, CLIP),
    _signsgd,
    """Update a weight by signSGD: ``(1 - lr * wd) * weight - lr * sign(grad)``.

    Rescaling and clipping do not change the sign.
    """,
    tries=TRIES,
    struct=SGD,
)
optimizer(
    "signum_update",
    "mom",
    (LR, MOMENTUM, WD, RESCALE, CLIP, number("wd_lh", 0.0)),
    _signum,
    """Update a weight by Signum: ``(1 - lr * wd_lh) * weight + lr * sign(mom)``.

    ``mom = momentum * mom - (1 - momentum) * (grad + wd * weight)``, the gradient rescaled and
    clipped.
    """,
    tries=tries_with(momentum=0.9, wd_lh=0.1),
    struct=SIGNUM,
)


def adam_step(a, xp, weight, grad, mean, var):
    """Return one step of Adam."""
    grad = decayed(a, xp, weight, grad)
    mean = a.beta1 * mean + (1 - a.beta1) * grad
    var = a.beta2 * var + (1 - a.beta2) * grad * grad
    return weight - a.lr * mean / (xp.sqrt(var) + a.epsilon), mean, var


SMALL = number("epsilon", 9.99999994e-09)

optimizer(
    "adam_update",
    "mean var",
    (LR, *BETAS, SMALL, WD, RESCALE, CLIP, LAZY),
    adam_step,
    """Update a weight by Adam, without bias correction, which callers include in `lr`.

    mean and var are moving averages of the gradient and of its square, and
    ``weight - lr * mean / (sqrt(var) + epsilon)`` is the new weight. Weight decay is added to the
    gradient before clipping. `lazy_update` affects sparse gradients only.
    """,
    aliases=("_sparse_adam_update",),
    stypes=by_rows(
        "_row_adam_update",
        "default row_sparse default default",
        "row_sparse row_sparse row_sparse row_sparse",
        "row_sparse row_sparse default default",
    ),
    struct=ADAM,
    positive=("var",),
    tries=TRIES,
)


def _rejected(xp, rescale_grad):
    """Return whether to skip an update because the loss scale in `rescale_grad` overflowed."""
    return not bool(xp.isfinite(rescale_grad).all() and (rescale_grad != 0).all())


def adamw_step(a, xp, weight, grad, mean, var, rescale_grad):
    """Return one step of AdamW."""
    if _rejected(xp, rescale_grad):
        return weight, mean, var
    grad = clipped(xp, grad * rescale_grad.reshape(()), a.clip_gradient)
    mean = a.beta1 * mean + (1 - a.beta1) * grad
    var = a.beta2 * var + (1 - a.beta2) * grad * grad
    step = a.lr * mean / (xp.sqrt(var) + a.epsilon) + a.wd * weight
    return weight - a.eta * step, mean, var


def adabelief_step(a, xp, weight, grad, mean, var, rescale_grad):
    """Return one step of AdaBelief."""
    if _rejected(xp, rescale_grad):
        return weight, mean, var
    grad = clipped(xp, grad * rescale_grad.reshape(()) + a.wd * weight, a.clip_gradient)
    mean = a.beta1 * mean + (1 - a.beta1) * grad
    var = a.beta2 * var + (1 - a.beta2) * (grad - mean) ** 2 + a.epsilon
    return weight - a.eta * a.lr * mean / (xp.sqrt(var) + a.epsilon), mean, var


_ADAMW = (LR, *BETAS, SMALL, WD, number("eta"), CLIP)

optimizer(
    "_adamw_update",
    "mean var",
    _ADAMW,
    adamw_step,
    """Update a weight by AdamW: Adam with decoupled weight decay.

    ``weight - eta * (lr * mean / (sqrt(var) + epsilon) + wd * weight)`` with mean and var as in
    Adam, of the gradient without weight decay. If `rescale_grad`, a single-element array, is zero
    or not finite, the update is skipped.
    """,
    mixed="_mp_adamw_update",
    positive=("var",),
    tries=({"lr": 0.1, "wd": 0.01, "eta": 0.7, "clip_gradient": 0.4},),
    extra=("rescale_grad",),
    struct=ADAMW,
)
optimizer(
    "_adabelief_update",
    "mean var",
    _ADAMW,
    adabelief_step,
    """Update a weight by AdaBelief: Adam with var averaging ``(grad - mean) ** 2``.

    ``weight - eta * lr * mean / (sqrt(var) + epsilon)``; weight decay is added to the gradient
    before clipping, and var grows by epsilon in each step. If `rescale_grad`, a single-element
    array, is zero or not finite, the update is skipped.
    """,
    mixed="_mp_adabelief_update",
    positive=("var",),
    tries=({"lr": 0.1, "wd": 0.01, "eta": 0.7, "clip_gradient": 0.4},),
    extra=("rescale_grad",),
    struct=ADAMW,
)
