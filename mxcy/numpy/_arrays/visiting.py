"""`mx.np` functions that iterate in Python, and type queries."""

import numbers

import numpy as onp

from mxcy.numpy._calls.by_numpy import as_onp, by_numpy
from mxcy.numpy._calls.operands import as_np_array, is_array, is_complex

__all__ = [
    "iscomplexobj",
    "isrealobj",
    "isscalar",
    "iterable",
    "ndenumerate",
    "ndindex",
    "vectorize",
]

ndindex, iterable = onp.ndindex, onp.iterable


def ndenumerate(arr):
    """Iterate over pairs of index and value in C order.

    Parameters
    ----------
    arr : array_like

    Returns
    -------
    iterator of (tuple of int, NumPy number)
    """
    return onp.ndenumerate(as_onp(as_np_array(arr)))


class vectorize(onp.vectorize):  # noqa: N801  its public name
    """Vectorize a scalar function; see `numpy.vectorize`.

    The function is called in Python for each element, on copies and without gradients.
    """

    def __call__(self, *args, **kwargs):
        """Call the function and return the results as `mx.np` arrays."""
        name = getattr(getattr(self, "pyfunc", None), "__name__", "vectorize")
        return by_numpy(super().__call__, f"vectorize({name})", args, kwargs)


def isscalar(element):
    """Return whether an object is a scalar (a number or a string)."""
    return isinstance(element, (numbers.Number, str, bytes, onp.generic))


def iscomplexobj(x):
    """Return whether an object has a complex dtype, whatever its values."""
    return is_complex(x) if is_array(x) else onp.iscomplexobj(x)


def isrealobj(x):
    """Return whether an object has a non-complex dtype."""
    return not iscomplexobj(x)
