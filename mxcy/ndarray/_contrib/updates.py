"""Optimizer steps of `mx.nd.contrib`: the update operators with list arguments."""

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
        The moments, updated in place.{master}
    rescale_grad : NDArray or float
        Factor of the gradient; if it is zero or not finite, the step is skipped.
    lr, eta : float
        The learning rate and its multiplier.
    beta1, beta2 : float
        Decay rates of the moments.
    epsilon : float
        Added to the root of the second moment.
    wd : float
        The weight decay.
    clip_gradient : float
        Bound of the gradient's magnitude; no clipping if negative.
    out : NDArray, optional
        Array to write the new weight to, usually `weight`.
    name : str, optional
        Accepted for compatibility.

    Returns
    -------
    NDArray
        The new weight."""

#: passages that differ in the docstrings for symbols
_FOR_SYMBOLS = (
    ("Array to write the new weight to, usually `weight`.", "Without effect."),
    ("Accepted for compatibility.", "The result's name."),
    ("NDArray", "Symbol"),
)

_SEVERAL = """
    Parameters
    ----------
    weights, grads : list of NDArray
        The weights and their gradients{half}.
    mean, var : list of NDArray
        The moments, updated in place.{master}{shared}
    lrs, wds : list of float
        Learning rate and weight decay of each weight.{etas}
    out : list of NDArray, optional
        Arrays to write the new weights to, usually `weights`.{count}
    **kwargs
        ``beta1``, ``beta2``, ``epsilon``, ``clip_gradient`` and others: see the operator.

    Returns
    -------
    NDArray or list of NDArray
        The new weights."""

_STEPS = """
    step_count : list of int
        Step number of each weight."""
_FACTOR = """
    rescale_grad : NDArray or float
        Factor of all gradients; if it is zero or not finite, the step is skipped."""
_TENSORS = """
    num_tensors : int
        Number of weights, by default all."""
_SIZE = """
    name : str, optional
        Accepted for compatibility.
    size : int
        Number of weights, by default all."""


def _documented(function):
    """Fill in the passages of a docstring shared by all steps."""
    if function.__doc__ is None:  # python -OO
        return function
    mixed = "_mp_" in function.__name__ or function.__name__.startswith("mp_")
    layers = "lamb" in function.__name__ or "lans" in function.__name__
    several = function.__name__.startswith("multi")
    master = "weights32 : list of NDArray" if several else "weight32 : NDArray"
    shared, count = (_STEPS, _TENSORS) if layers else (_FACTOR, _SIZE)
    text = (_SEVERAL if several else _SINGLE).format(
        half=", in half precision" if mixed else "",
        master=f"\n    {master}\n        Master copies in float32, updated in place." * mixed,
        shared=shared,
        etas="" if layers else "\n    etas : list of float\n        Multipliers of learning rates.",
        count=count,
    )
    function.__doc__ = f"{function.__doc__}\n{text}"
    return function


def _factor(rescale_grad, weight):
    """Convert the gradient factor to an array on a weight's context."""
    if isinstance(rescale_grad, front.NDArrayBase):
        return rescale_grad.as_in_context(weight.context)
    return full((1,), rescale_grad, weight.context)


def _in_turn(*lists):
    """Interleave lists: the first arrays of all, then the second ones, ..."""
    return [array for row in zip(*lists, strict=True) for array in row]


def _update(step):
    """Add the signature of a step in a single precision."""

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
    """Add the signature of a step in mixed precision."""

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
    """Make the function of an update operator for one weight, for arrays or symbols.

    Parameters
    ----------
    module : str
        The function's module.
    F : object
        An object with the operators as attributes.
    as_factor : callable
        ``as_factor(rescale_grad, weight)`` converts a number to an array or symbol.
    name : str
        The function's name; prefix ``mp_`` means weights in half precision.
    doc : str
        Summary line of the docstring.
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
    __name__, F, _factor, "adamw_update", "One step of AdamW: Adam with decoupled weight decay."
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
    """Call an operator for several weights with one gradient factor."""
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
    """Call an operator for several weights that scales the step of each one."""
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
