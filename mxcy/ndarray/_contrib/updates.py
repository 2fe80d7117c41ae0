"""Optimizer steps of `mx.nd.contrib`: the update operators, with arguments in lists."""

from mxcy._library import front
from mxcy.ndarray._functions.creation import full
from mxcy.ndarray.register import F

__all__ = [
    "adabelief_update",
    "adamw_update",
    "mp_adabelief_update",
    "mp_adamw_update",
    "multi_adabelief_update",
    "multi_adamw_update",
    "multi_lamb_update",
    "multi_lans_update",
    "multi_mp_adabelief_update",
    "multi_mp_adamw_update",
    "multi_mp_lamb_update",
    "multi_mp_lans_update",
]

_SINGLE = """
    Parameters
    ----------
    weight, grad : NDArray
        The weight and its gradient{half}.
    mean, var : NDArray
        The moments, which the step changes.{master}
    rescale_grad : NDArray or float
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
    out : NDArray, optional
        The array that takes the new weight, `weight` as a rule.
    name : str, optional
        Accepted for compatibility.

    Returns
    -------
    NDArray
        The new weight."""

#: what differs in the docstrings of symbols
_FOR_SYMBOLS = (
    ("The array that takes the new weight, `weight` as a rule.", "Without effect."),
    ("Accepted for compatibility.", "The result's name."),
    ("NDArray", "Symbol"),
)

_SEVERAL = """
    Parameters
    ----------
    weights, grads : list of NDArray
        The weights and their gradients{half}.
    mean, var : list of NDArray
        The moments, which the step changes.{master}{shared}
    lrs, wds : list of float
        A learning rate and a weight decay for each weight.{etas}
    out : list of NDArray, optional
        The arrays that take the new weights, `weights` as a rule.{count}
    **kwargs
        ``beta1``, ``beta2``, ``epsilon``, ``clip_gradient`` and others: see the operator.

    Returns
    -------
    NDArray or list of NDArray
        The new weights."""

_STEPS = """
    step_count : list of int
        The number of the step for each weight."""
_FACTOR = """
    rescale_grad : NDArray or float
        A factor on all gradients; the step is left out when it is not finite or zero."""
_TENSORS = """
    num_tensors : int
        The number of weights; by default all."""
_SIZE = """
    name : str, optional
        Accepted for compatibility.
    size : int
        The number of weights; by default all."""


def _documented(function):
    """Complete a docstring with what all steps share."""
    if function.__doc__ is None:  # python -OO
        return function
    mixed = "_mp_" in function.__name__ or function.__name__.startswith("mp_")
    layers = "lamb" in function.__name__ or "lans" in function.__name__
    several = function.__name__.startswith("multi")
    master = "weights32 : list of NDArray" if several else "weight32 : NDArray"
    shared, count = (_STEPS, _TENSORS) if layers else (_FACTOR, _SIZE)
    text = (_SEVERAL if several else _SINGLE).format(
        half=", in half precision" if mixed else "",
        master=f"\n    {master}\n        Copies in float32, which the step changes." * mixed,
        shared=shared,
        etas="" if layers else "\n    etas : list of float\n        Multipliers of learning rates.",
        count=count,
    )
    function.__doc__ = f"{function.__doc__}\n{text}"
    return function


def _factor(rescale_grad, weight):
    """The factor on gradients as an array beside a weight."""
    if isinstance(rescale_grad, front.NDArrayBase):
        return rescale_grad.as_in_context(weight.context)
    return full((1,), rescale_grad, weight.context)


def _in_turn(*lists):
    """The first arrays of all lists, then the second ones, ..."""
    return [array for row in zip(*lists, strict=True) for array in row]


def _update(step):
    """The signature of a step in one precision."""

    def update(
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
        return step(
            weight,
            (grad, mean, var),
            rescale_grad,
            lr=lr,
            eta=eta,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
            wd=wd,
            clip_gradient=clip_gradient,
            out=out,
            name=name,
            **kwargs,
        )

    return update


def _mp_update(step):
    """The signature of a step of a weight in half precision."""

    def mp_update(
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
        return step(
            weight,
            (grad, mean, var, weight32),
            rescale_grad,
            lr=lr,
            eta=eta,
            beta1=beta1,
            beta2=beta2,
            epsilon=epsilon,
            wd=wd,
            clip_gradient=clip_gradient,
            out=out,
            name=name,
            **kwargs,
        )

    return mp_update


def step_of_one(module, F, as_factor, name, doc, kind="NDArray"):
    """The function of an update operator for one weight, over arrays or symbols.

    Parameters
    ----------
    module : str
        The function's.
    F : object
        Has the operators as attributes.
    as_factor : callable
        ``as_factor(rescale_grad, weight)`` makes an array or symbol of a number.
    name : str
        The function's; ``mp_`` in front stands for weights in half precision.
    doc : str
        What it does, in a line.
    kind : str
        The class of the arguments, for the docstring.
    """

    def step(weight, others, rescale_grad, **options):
        return getattr(F, operator)(weight, *others, as_factor(rescale_grad, weight), **options)

    operator = f"_{name}"
    function = (_mp_update if name.startswith("mp_") else _update)(step)
    function.__name__ = function.__qualname__ = name
    function.__module__ = module
    function.__doc__ = doc
    function = _documented(function)
    if kind == "Symbol" and function.__doc__ is not None:
        for array_text, symbol_text in _FOR_SYMBOLS:
            function.__doc__ = function.__doc__.replace(array_text, symbol_text)
    return function


adamw_update = step_of_one(
    __name__,
    F,
    _factor,
    "adamw_update",
    "One step of Adam with the weight decay apart from the gradient.",
)
mp_adamw_update = step_of_one(
    __name__,
    F,
    _factor,
    "mp_adamw_update",
    "One step of `adamw_update` for a weight in half precision.",
)
adabelief_update = step_of_one(
    __name__,
    F,
    _factor,
    "adabelief_update",
    "One step of AdaBelief: Adam with the variance around the mean gradient.",
)
mp_adabelief_update = step_of_one(
    __name__,
    F,
    _factor,
    "mp_adabelief_update",
    "One step of `adabelief_update` for a weight in half precision.",
)


def _scaled(name, lists, rescale_grad, size, rates):
    """Call an operator of several weights and one factor on the gradients."""
    arrays = [*_in_turn(*lists), _factor(rescale_grad, lists[0][0])]
    return getattr(F, name)(*arrays, num_weights=size or len(lists[0]), **rates)


@_documented
def multi_adamw_update(
    weights, grads, mean, var, rescale_grad, lrs, wds, etas, out=None, name=None, size=0, **kwargs
):
    """One step of `adamw_update` for several weights."""
    rates = {"lrs": lrs, "wds": wds, "etas": etas, "out": out, **kwargs}
    lists = (weights, grads, mean, var)
    return _scaled("_multi_adamw_update", lists, rescale_grad, size, rates)


@_documented
def multi_mp_adamw_update(
    weights,
    grads,
    mean,
    var,
    weights32,
    rescale_grad,
    lrs,
    wds,
    etas,
    out=None,
    name=None,
    size=0,
    **kwargs,
):
    """One step of `adamw_update` for several weights in half precision."""
    rates = {"lrs": lrs, "wds": wds, "etas": etas, "out": out, **kwargs}
    lists = (weights, grads, mean, var, weights32)
    return _scaled("_multi_mp_adamw_update", lists, rescale_grad, size, rates)


@_documented
def multi_adabelief_update(
    weights, grads, mean, var, rescale_grad, lrs, wds, etas, out=None, name=None, size=0, **kwargs
):
    """One step of `adabelief_update` for several weights."""
    rates = {"lrs": lrs, "wds": wds, "etas": etas, "out": out, **kwargs}
    lists = (weights, grads, mean, var)
    return _scaled("_multi_adabelief_update", lists, rescale_grad, size, rates)


@_documented
def multi_mp_adabelief_update(
    weights,
    grads,
    mean,
    var,
    weights32,
    rescale_grad,
    lrs,
    wds,
    etas,
    out=None,
    name=None,
    size=0,
    **kwargs,
):
    """One step of `adabelief_update` for several weights in half precision."""
    rates = {"lrs": lrs, "wds": wds, "etas": etas, "out": out, **kwargs}
    lists = (weights, grads, mean, var, weights32)
    return _scaled("_multi_mp_adabelief_update", lists, rescale_grad, size, rates)


def _layered(name, lists, step_count, lrs, wds, out, count, kwargs):
    """Call an operator that scales the step of each of several weights."""
    return getattr(F, name)(
        *_in_turn(*lists),
        num_tensors=count or len(lists[0]),
        step_count=step_count,
        learning_rates=lrs,
        wds=wds,
        out=out,
        **kwargs,
    )


@_documented
def multi_lamb_update(
    weights, grads, mean, var, step_count, lrs, wds, out=None, num_tensors=0, **kwargs
):
    """One step of LAMB for several weights."""
    lists = (weights, grads, mean, var)
    return _layered("_multi_lamb_update", lists, step_count, lrs, wds, out, num_tensors, kwargs)


@_documented
def multi_mp_lamb_update(
    weights, grads, mean, var, weights32, step_count, lrs, wds, out=None, num_tensors=0, **kwargs
):
    """One step of LAMB for several weights in half precision."""
    lists = (weights, grads, mean, var, weights32)
    return _layered("_multi_mp_lamb_update", lists, step_count, lrs, wds, out, num_tensors, kwargs)


@_documented
def multi_lans_update(
    weights, grads, mean, var, step_count, lrs, wds, out=None, num_tensors=0, **kwargs
):
    """One step of LANS for several weights."""
    lists = (weights, grads, mean, var)
    return _layered("_multi_lans_update", lists, step_count, lrs, wds, out, num_tensors, kwargs)


@_documented
def multi_mp_lans_update(
    weights, grads, mean, var, weights32, step_count, lrs, wds, out=None, num_tensors=0, **kwargs
):
    """One step of LANS for several weights in half precision."""
    lists = (weights, grads, mean, var, weights32)
    return _layered("_multi_mp_lans_update", lists, step_count, lrs, wds, out, num_tensors, kwargs)
