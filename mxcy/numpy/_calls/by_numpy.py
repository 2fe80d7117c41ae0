"""Functions that NumPy itself computes on copies of the elements: no gradients, no graphs."""

import functools
import logging

import numpy as onp

from mxcy._library import front
from mxcy.numpy._calls.operands import from_onp, is_array

__all__ = ["as_mx", "as_onp", "by_numpy", "offered"]

_warned = set()


def as_onp(value):
    """What arrays of mxcy in a value, also in lists, tuples and dicts, are in NumPy."""
    if is_array(value):
        return value.asnumpy()
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(as_onp, value))
    if isinstance(value, (list, tuple)):
        return type(value)(map(as_onp, value))
    if isinstance(value, dict):
        return {key: as_onp(item) for key, item in value.items()}
    return value


def as_mx(value):
    """What NumPy's arrays in a value, also in lists and tuples, are here."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(as_mx, value))
    if isinstance(value, (list, tuple)):
        return type(value)(map(as_mx, value))
    if isinstance(value, (onp.ndarray, onp.generic)) and value.dtype.kind in "biufc":
        return from_onp(onp.asarray(value))
    return value


def by_numpy(function, name, args, kwargs):
    """Have NumPy compute a function.

    Parameters
    ----------
    function : callable
    name : str
        What messages call it.
    args : tuple
    kwargs : dict

    Returns
    -------
    object
        NumPy's result with arrays of `mx.np` in place of NumPy's.

    Raises
    ------
    ValueError
        While recording: no gradient could flow.
    """
    if front.is_recording():
        raise ValueError(
            f"{name} is computed by NumPy, so it cannot be recorded: call it outside of "
            "autograd.record()"
        )
    if name not in _warned:
        _warned.add(name)
        logging.getLogger(__name__).warning(
            "np.%s is a fallback operator, which is actually using official numpy's "
            "implementation.",
            name,
        )
    return as_mx(function(*as_onp(args), **as_onp(kwargs)))


def offered(module, names):
    """Functions of a module of NumPy as functions of `mx.np`; names that NumPy lacks are left out.

    Parameters
    ----------
    module : module
    names : sequence of str

    Returns
    -------
    dict of str to function
    """
    return {name: _offer(getattr(module, name), name) for name in names if hasattr(module, name)}


def _offer(function, name):
    @functools.wraps(function)
    def run(*args, **kwargs):
        return by_numpy(function, name, args, kwargs)

    run.__module__ = "mxcy.numpy"
    run.__doc__ = f"What `numpy.{name}` computes on copies of the elements, without a gradient."
    del run.__wrapped__
    return run
