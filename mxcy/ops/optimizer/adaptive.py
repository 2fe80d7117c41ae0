"""Adaptive optimizer updates of one weight, other than Adam."""

from mxcy.ops.core.attrs import Double, Int
from mxcy.ops.core.infer import Spec, require, same_dtype
from mxcy.ops.core.params import ADAGRAD, FTML, FTRL, RMSPROP, RMSPROPALEX
from mxcy.ops.core.record import register, sample, values
from mxcy.ops.optimizer.definitions import (
    CLIP,
    LR,
    RESCALE,
    WD,
    clipped,
    decayed,
    number,
    optimizer,
    scaled,
    tries_with,
)
from mxcy.ops.sparse.update_rules import by_rows

_SMALL = number("epsilon", 9.99999994e-09)


def _rmsprop(a, xp, weight, grad, n):
    grad = decayed(a, xp, weight, grad)
    n = (1 - a.gamma1) * grad * grad + a.gamma1 * n
    return clipped(xp, weight - a.lr * grad / xp.sqrt(n + a.epsilon), a.clip_weights), n


def _rmspropalex(a, xp, weight, grad, n, g, delta):
    grad = decayed(a, xp, weight, grad)
    n = (1 - a.gamma1) * grad * grad + a.gamma1 * n
    g = (1 - a.gamma1) * grad + a.gamma1 * g
    delta = a.gamma2 * delta - a.lr * grad / xp.sqrt(n - g * g + a.epsilon)
    return clipped(xp, weight + delta, a.clip_weights), n, g, delta


_CLIP_WEIGHTS = number("clip_weights", -1.0)
_GAMMA1 = number("gamma1", 0.949999988)

optimizer(
    "rmsprop_update",
    "n",
    (LR, _GAMMA1, _SMALL, WD, RESCALE, CLIP, _CLIP_WEIGHTS),
    _rmsprop,
    """Update a weight by RMSProp: ``weight - lr * grad / sqrt(n + epsilon)``.

    n is a moving average of the squared gradient with decay `gamma1`. Weight decay is added to the
    gradient before clipping. Unless negative, `clip_weights` bounds the new weight.
    """,
    struct=RMSPROP,
    positive=("n",),
    tries=tries_with(clip_weights=0.7),
)
optimizer(
    "rmspropalex_update",
    "n g delta",
    (LR, _GAMMA1, number("gamma2", 0.899999976), _SMALL, WD, RESCALE, CLIP, _CLIP_WEIGHTS),
    _rmspropalex,
    """Update a weight by centred RMSProp with momentum (Graves).

    n and g are moving averages of the squared gradient and the gradient with decay `gamma1`;
    ``delta = gamma2 * delta - lr * grad / sqrt(n - g * g + epsilon)``, and ``weight + delta`` is
    the new weight. Weight decay is added to the gradient before clipping. Unless negative,
    `clip_weights` bounds the new weight.
    """,
    positive=("n",),
    tries=tries_with(epsilon=2.0),
    struct=RMSPROPALEX,
)


def ftrl_step(a, xp, weight, grad, z, n):
    """Return one step of FTRL."""
    grad = scaled(a, xp, grad)
    total = n + grad * grad
    z = z + grad - (xp.sqrt(total) - xp.sqrt(n)) * weight / a.lr
    out = (xp.sign(z) * a.lamda1 - z) / ((a.beta + xp.sqrt(total)) / a.lr + a.wd)
    return xp.where(xp.abs(z) > a.lamda1, out, 0), z, total


optimizer(
    "ftrl_update",
    "z n",
    (LR, number("lamda1", 0.00999999978), number("beta", 1.0), WD, RESCALE, CLIP),
    ftrl_step,
    """Update a weight by FTRL (follow the regularised leader) with L1 penalty `lamda1`.

    n accumulates the squared gradients, z the gradients corrected for the current weight; the new
    weight is zero where ``abs(z) <= lamda1``, else
    ``(sign(z) * lamda1 - z) / ((beta + sqrt(n)) / lr + wd)``.
    """,
    aliases=("_sparse_ftrl_update",),
    stypes=by_rows("_row_ftrl_update", "row_sparse row_sparse row_sparse row_sparse"),
    positive=("n",),
    tries=tries_with(lamda1=0.3),
    struct=FTRL,
)


def _ftml(a, xp, weight, grad, d, v, z):
    grad = clipped(xp, grad * a.rescale_grad + a.wd * weight, a.clip_grad)
    v = a.beta2 * v + (1 - a.beta2) * grad * grad
    corrected = xp.sqrt(v / (1 - a.beta2**a.t)) + a.epsilon
    now = (1 - a.beta1**a.t) / a.lr * corrected
    z = a.beta1 * z + (1 - a.beta1) * grad - (now - a.beta1 * d) * weight
    return -z / now, now, v, z


optimizer(
    "ftml_update",
    "d v z",
    (
        LR,
        number("beta1", 0.600000024),
        number("beta2", 0.999000013),
        number("epsilon", 9.9999999392252903e-09, Double),
        number("t", kind=Int),
        WD,
        RESCALE,
        number("clip_grad", -1.0),
    ),
    _ftml,
    """Update a weight by FTML (follow the moving leader); `t` counts updates from 1.

    v is a moving average of the squared gradient, d the scale of each weight, z the leader:
    ``-z / d`` is the new weight. Weight decay is added to the gradient before clipping to
    `clip_grad`.
    """,
    positive=("d", "v"),
    tries=({"lr": 0.1, "t": 3, "wd": 0.1}, {"lr": 0.1, "t": 1, "clip_grad": 0.2}),
    struct=FTML,
)


def adagrad_step(a, xp, weight, grad, history):
    """Return one step of AdaGrad."""
    grad = scaled(a, xp, grad)
    history = history + grad * grad
    return weight - a.lr * (grad / xp.sqrt(history + a.epsilon) + a.wd * weight), history


optimizer(
    "_sparse_adagrad_update",
    "history",
    (LR, number("epsilon", 1.00000001e-07), WD, RESCALE, CLIP),
    adagrad_step,
    """Update a weight by AdaGrad: ``weight - lr * (grad / sqrt(history + epsilon) + wd * weight)``.

    `history` accumulates the squared gradients.
    """,
    positive=("history",),
    tries=tries_with(epsilon=1e-3),
    struct=ADAGRAD,
    stypes=by_rows(
        "_row_adagrad_update",
        "default row_sparse default",
        "row_sparse row_sparse row_sparse",
        when=lambda a, *specs: a.wd == 0,
    ),
)


def _infer_group(a, weight, grad, history):
    dtype = same_dtype((weight, grad, history), ("weight", "grad", "history"))
    grad.fill("grad", weight.shape)
    if weight.shape is not None:
        require(weight.ndim > 0, "weight: expected at least one dimension, got a scalar")
        history.fill("history", (weight.shape[0], *[1] * (weight.ndim - 1)))
    return Spec(weight.shape, dtype)


def group_adagrad_step(a, xp, weight, grad, history):
    """Return one step of AdaGrad with one history per row."""
    grad = scaled(a, xp, grad)
    history = history + (grad * grad).mean(tuple(range(1, grad.ndim)), keepdims=True)
    return weight - a.lr * grad / xp.sqrt(history + a.epsilon), history


register(
    "_contrib_group_adagrad_update",
    inputs="weight grad history",
    mutates=("history",),
    fields=(LR, RESCALE, CLIP, number("epsilon", 9.99999975e-06)),
    infer=_infer_group,
    stypes=by_rows(
        "_row_group_adagrad_update",
        "default row_sparse default",
        "row_sparse row_sparse default",
        "row_sparse row_sparse row_sparse",
    ),
    ref=group_adagrad_step,
    samples=(
        sample((4, 5), (4, 5), values(0.1, 1, (4, 1)), lr=0.1, tol=4),
        sample(
            (4, 5),
            (4, 5),
            values(0.1, 1, (4, 1)),
            lr=0.1,
            rescale_grad=2.0,
            clip_gradient=0.3,
            tol=4,
        ),
    ),
    doc="""Update a weight by row-wise AdaGrad: ``weight - lr * grad / sqrt(history + epsilon)``.

    `history`, of size 1 in all axes but the first, accumulates mean squared gradients of rows.
    """,
)
