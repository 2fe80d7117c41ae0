"""`mx.sym.contrib`: operators outside the core and control flow, over symbols."""

import math

from mxcy.symbol import namespaces
from mxcy.symbol.control import cond, foreach, while_loop
from mxcy.symbol.creation import full
from mxcy.symbol.random import uniform
from mxcy.symbol.register import F
from mxcy.symbol.symbol import Symbol

__all__ = ["adamw_update", "cond", "foreach", "mp_adamw_update", "rand_zipfian", "while_loop"]

__getattr__, __dir__ = namespaces.offer(__name__, "contrib")


def _as_symbol(rescale_grad):
    if isinstance(rescale_grad, Symbol):
        return rescale_grad
    return full(shape=(1,), val=rescale_grad)


def adamw_update(
    weight,
    grad,
    mean,
    var,
    rescale_grad,
    lr,
    eta,
    beta1=0.9,
    beta2=0.999,
    epsilon=1e-8,
    wd=0,
    clip_gradient=-1,
    out=None,
    name=None,
    **kwargs,
):
    """One step of Adam with the weight decay apart from the gradient.

    Parameters
    ----------
    weight, grad, mean, var : Symbol
        The weight, its gradient, and the moments, which the step changes.
    rescale_grad : Symbol or float
        A factor on the gradient; the step is left out when it is not finite or zero.
    lr, eta : float
        The learning rate, and its multiplier by a schedule.
    beta1, beta2 : float
        How much of the moments is kept.
    epsilon : float
        Added to the root of the second moment.
    wd : float
        The weight decay.
    clip_gradient : float
        The largest magnitude of a gradient; none when negative.
    name : str, optional

    Returns
    -------
    Symbol
    """
    return F._adamw_update(
        weight,
        grad,
        mean,
        var,
        _as_symbol(rescale_grad),
        lr=lr,
        eta=eta,
        beta1=beta1,
        beta2=beta2,
        epsilon=epsilon,
        wd=wd,
        clip_gradient=clip_gradient,
        name=name,
        **kwargs,
    )


def mp_adamw_update(
    weight,
    grad,
    mean,
    var,
    weight32,
    rescale_grad,
    lr,
    eta,
    beta1=0.9,
    beta2=0.999,
    epsilon=1e-8,
    wd=0,
    clip_gradient=-1,
    out=None,
    name=None,
    **kwargs,
):
    """`adamw_update` of a half-precision weight with a float32 copy.

    Parameters
    ----------
    weight, grad : Symbol
        Half-precision weight and gradient.
    mean, var, weight32 : Symbol
        The moments and the copy, which the step changes.
    rescale_grad, lr, eta, beta1, beta2, epsilon, wd, clip_gradient, name
        As for `adamw_update`.

    Returns
    -------
    Symbol
    """
    return F._mp_adamw_update(
        weight,
        grad,
        mean,
        var,
        weight32,
        _as_symbol(rescale_grad),
        lr=lr,
        eta=eta,
        beta1=beta1,
        beta2=beta2,
        epsilon=epsilon,
        wd=wd,
        clip_gradient=clip_gradient,
        name=name,
        **kwargs,
    )


def rand_zipfian(true_classes, num_sampled, range_max):
    """Draw classes from an approximately log-uniform (Zipfian) distribution.

    Class c, of `range_max`, has the probability ``log((c + 2) / (c + 1)) / log(range_max + 1)``.

    Parameters
    ----------
    true_classes : Symbol
        Classes whose expected counts are wanted as well.
    num_sampled : int
        How many classes are drawn, with repetition.
    range_max : int
        The number of classes.

    Returns
    -------
    samples : Symbol
        int64, shape (num_sampled,).
    expected_count_true, expected_count_sampled : Symbol
        How often the true classes and the drawn ones are expected, float64.
    """
    assert isinstance(true_classes, Symbol), f"unexpected type {type(true_classes)}"
    whole = math.log(range_max + 1)

    def expected(classes):
        probability = ((classes + 2.0) / (classes + 1.0)).log() / whole
        return probability * num_sampled

    drawn = uniform(0, whole, shape=(num_sampled,), dtype="float64")
    samples = (drawn.exp() - 1).astype("int64") % range_max
    return samples, expected(true_classes.astype("float64")), expected(samples.astype("float64"))
