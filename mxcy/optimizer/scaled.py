"""Multi-weight update shared by AdamW and AdaBelief."""

from mxcy import ndarray as nd
from mxcy.optimizer.states import in_turns

__all__ = ["corrected_rates", "update_scaled"]


def corrected_rates(optimizer, lrs, counts):
    """Learning rates, with bias correction if the optimizer requests it.

    Parameters
    ----------
    optimizer : Optimizer
        Optimizer with beta1, beta2 and correct_bias.
    lrs : list of float
    counts : list of int
        Update count of each weight, including this one.

    Returns
    -------
    list of float
    """
    if not optimizer.correct_bias:
        return lrs
    beta1, beta2 = optimizer.beta1, optimizer.beta2
    return [
        lr * (1.0 - beta2**count) ** 0.5 / (1.0 - beta1**count)
        for lr, count in zip(lrs, counts, strict=True)
    ]


def update_scaled(kind, optimizer, weights, grads, states, lrs, wds, counts):
    """Update weights with the operator ``_multi_<kind>_update``.

    Parameters
    ----------
    kind : {'adamw', 'adabelief'}
    optimizer : Optimizer
        Optimizer with beta1, beta2, epsilon and correct_bias.
    weights, grads, states, lrs, wds, counts : list
        See `Optimizer._apply_many`; a state is the pair of moments.
    """
    beta1, beta2 = optimizer.beta1, optimizer.beta2
    lrs = corrected_rates(optimizer, lrs, counts)
    means, moments = zip(*states, strict=True)
    scale = nd.full((1,), optimizer.rescale_grad, ctx=weights[0].context)
    clip = {"clip_gradient": optimizer.clip_gradient} if optimizer.clip_gradient else {}
    getattr(nd._internal, f"_multi_{kind}_update")(
        *in_turns(weights, grads, means, moments),
        scale,
        out=weights,
        num_weights=len(weights),
        lrs=[1.0] * len(weights),
        wds=wds,
        etas=lrs,
        beta1=beta1,
        beta2=beta2,
        epsilon=optimizer.epsilon,
        **clip,
    )
