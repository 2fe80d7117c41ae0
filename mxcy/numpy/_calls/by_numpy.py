"""Fallback to NumPy on copies of the elements: no gradients, no graphs."""

import functools
import logging

import numpy as onp

from mxcy._library import front
from mxcy.numpy._calls.operands import from_onp, is_array

__all__ = ["as_mx", "as_onp", "by_numpy", "offered"]

_warned = set()


def as_onp(value):
    """Convert mxcy arrays to NumPy, recursively in lists, tuples and dicts."""
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
    """Convert NumPy arrays to `mx.np`, recursively in lists and tuples."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(as_mx, value))
    if isinstance(value, (list, tuple)):
        return type(value)(map(as_mx, value))
    if isinstance(value, (onp.ndarray, onp.generic)) and value.dtype.kind in "biufc":
        return from_onp(onp.asarray(value))
    return value


def by_numpy(function, name, args, kwargs):
    """Compute a function with NumPy.

    Parameters
    ----------
    function : callable
    name : str
        Name of the function in messages.
    args : tuple
    kwargs : dict

    Returns
    -------
    object
        NumPy's result, its arrays converted to `mx.np`.

    Raises
    ------
    ValueError
        If recording, as no gradient could flow.
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
    """Wrap functions of a NumPy module for `mx.np`; names that NumPy lacks are skipped.

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
    run.__doc__ = f"Call `numpy.{name}` on copies of the elements; not differentiable."
    del run.__wrapped__
    return run
