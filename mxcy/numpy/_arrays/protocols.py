"""NumPy's functions on arrays of `mx.np`: `__array_ufunc__` and `__array_function__`.

A call is forwarded to the `mx.np` function of the same name; if there is none, NumPy computes it.
"""

import sys

import numpy as onp

from mxcy._library import front
from mxcy.numpy._calls.by_numpy import as_onp, by_numpy

__all__ = ["call_function", "call_ufunc"]


def _own(home, name):
    """Return an `mx.np` function from a namespace such as ``'linalg'``; None if there is none."""
    module = sys.modules["mxcy.numpy"]
    for part in (*filter(None, home.split(".")), name):
        module = getattr(module, part, None)
    return module if callable(module) else None


def call_ufunc(ufunc, method, inputs, kwargs):
    """Call a NumPy ufunc with `mx.np` arrays among its inputs or outputs."""
    outs = kwargs.pop("out", ())
    if any(isinstance(out, onp.ndarray) for out in outs):  # NumPy outputs stay NumPy arrays
        result = getattr(ufunc, method)(*as_onp(inputs), out=as_onp(outs), **as_onp(kwargs))
        return outs[0] if len(outs) == 1 else result
    own = _own("", ufunc.__name__) if method == "__call__" else None
    if own is None:
        result = by_numpy(getattr(ufunc, method), ufunc.__name__, inputs, kwargs)
        return _stored(result, outs)
    if outs:
        kwargs["out"] = outs[0] if len(outs) == 1 else outs
    if not any(isinstance(x, onp.ndarray) for x in inputs):
        return own(*inputs, **kwargs)
    before = front.set_numpy_types(True)  # mixed calls promote as NumPy does
    try:
        return own(*inputs, **kwargs)
    finally:
        front.set_numpy_types(before)


def _stored(results, outs):
    """Return a result, stored in the output arrays if given."""
    if not outs:
        return results
    for out, values in zip(
        outs, results if isinstance(results, tuple) else (results,), strict=True
    ):
        out[...] = values
    return outs[0] if len(outs) == 1 else outs


def call_function(function, args, kwargs):
    """Call a NumPy function with `mx.np` arrays among its arguments."""
    home = getattr(function, "__module__", "numpy") or "numpy"
    home = home.removeprefix("numpy").removeprefix(".")
    own = _own("" if home.startswith(("_", "lib", "core")) else home, function.__name__)
    if own is None:
        name = f"{home}.{function.__name__}" if home else function.__name__
        return by_numpy(function, name, args, kwargs)
    return own(*args, **kwargs)
