"""Optimizer updates of one weight: each returns the new weight and writes its states."""

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
    """One step of gradient descent."""
    return ((1 - a.lr * a.wd) * weight - a.lr * scaled(a, xp, grad),)


def sgd_mom_step(a, xp, weight, grad, mom):
    """One step of gradient descent with momentum."""
    mom = a.momentum * mom - a.lr * a.wd * weight - a.lr * scaled(a, xp, grad)
    return weight + mom, mom


optimizer(
    "sgd_update",
    "",
    (LR, WD, RESCALE, CLIP, LAZY),
    sgd_step,
    """Gradient descent: ``weight - lr * (grad + wd * weight)``, the gradient rescaled and clipped.

    `lazy_update` concerns sparse gradients only.
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
    """Gradient descent with momentum.

    ``mom = momentum * mom - lr * (grad + wd * weight)`` with the gradient rescaled and clipped, and
    ``weight + mom`` is the new weight. `lazy_update` concerns sparse gradients only.
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
    """One step of Nesterov's accelerated gradient."""
    grad = scaled(a, xp, grad)
    step = a.lr * (grad + a.wd * weight)
    out = weight + a.momentum * (a.momentum * mom - step) - step
    # Not the same step: the weight decay of the momentum is that of the new weight, as in MXNet.
    return out, a.momentum * mom - a.lr * (grad + a.wd * out)


optimizer(
    "nag_mom_update",
    "mom",
    (LR, MOMENTUM, WD, RESCALE, CLIP),
    nag_step,
    """Nesterov's accelerated gradient.

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
    """Steps of fixed length: ``(1 - lr * wd) * weight - lr * sign(grad)``.

    Rescaling and clipping do not change a sign.
    """,
    tries=TRIES,
    struct=SGD,
)
optimizer(
    "signum_update",
    "mom",
    (LR, MOMENTUM, WD, RESCALE, CLIP, number("wd_lh", 0.0)),
    _signum,
    """Steps of fixed length along the momentum: ``(1 - lr * wd_lh) * weight + lr * sign(mom)``.

    ``mom = momentum * mom - (1 - momentum) * (grad + wd * weight)``, the gradient rescaled and
    clipped.
    """,
    tries=tries_with(momentum=0.9, wd_lh=0.1),
    struct=SIGNUM,
)


def adam_step(a, xp, weight, grad, mean, var):
    """One step of Adam."""
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
    """Adam, without the correction of the first steps, which callers put into `lr`.

    Mean and var are moving averages of the gradient and of its square, and
    ``weight - lr * mean / (sqrt(var) + epsilon)`` is the new weight. Weight decay is part of the
    gradient, before clipping. `lazy_update` concerns sparse gradients only.
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
    """Whether an update is to be skipped: the loss scale in `rescale_grad` overflowed."""
    return not bool(xp.isfinite(rescale_grad).all() and (rescale_grad != 0).all())


def adamw_step(a, xp, weight, grad, mean, var, rescale_grad):
    """One step of AdamW."""
    if _rejected(xp, rescale_grad):
        return weight, mean, var
    grad = clipped(xp, grad * rescale_grad.reshape(()), a.clip_gradient)
    mean = a.beta1 * mean + (1 - a.beta1) * grad
    var = a.beta2 * var + (1 - a.beta2) * grad * grad
    step = a.lr * mean / (xp.sqrt(var) + a.epsilon) + a.wd * weight
    return weight - a.eta * step, mean, var


def adabelief_step(a, xp, weight, grad, mean, var, rescale_grad):
    """One step of AdaBelief."""
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
    """Adam with decoupled weight decay.

    ``weight - eta * (lr * mean / (sqrt(var) + epsilon) + wd * weight)`` with mean and var as in
    Adam, of the gradient without weight decay. When `rescale_grad`, an array of one element, is
    zero or not finite, nothing changes.
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
    """Adam with the mean squared surprise, ``(grad - mean) ** 2``, in place of the mean square.

    ``weight - eta * lr * mean / (sqrt(var) + epsilon)``; weight decay is part of the gradient,
    before clipping, and var grows by epsilon in each step. When `rescale_grad`, an array of one
    element, is zero or not finite, nothing changes.
    """,
    mixed="_mp_adabelief_update",
    positive=("var",),
    tries=({"lr": 0.1, "wd": 0.01, "eta": 0.7, "clip_gradient": 0.4},),
    extra=("rescale_grad",),
    struct=ADAMW,
)
