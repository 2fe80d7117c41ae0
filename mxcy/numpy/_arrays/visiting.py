"""Functions of `mx.np` that go through elements in Python, or ask what something is."""

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
    """The coordinates and values of all elements, in order.

    Parameters
    ----------
    arr : array_like

    Returns
    -------
    iterator of (tuple of int, NumPy number)
    """
    return onp.ndenumerate(as_onp(as_np_array(arr)))


class vectorize(onp.vectorize):  # noqa: N801  its public name
    """A function of numbers, called for each element of arrays; see `numpy.vectorize`.

    It runs Python for each element, on copies and without a gradient.
    """

    def __call__(self, *args, **kwargs):
        """The function's results as arrays of `mx.np`."""
        name = getattr(getattr(self, "pyfunc", None), "__name__", "vectorize")
        return by_numpy(super().__call__, f"vectorize({name})", args, kwargs)


def isscalar(element):
    """Whether something is a number or a text, and no array of any kind."""
    return isinstance(element, (numbers.Number, str, bytes, onp.generic))


def iscomplexobj(x):
    """Whether the element type of something is complex, whatever the values are."""
    return is_complex(x) if is_array(x) else onp.iscomplexobj(x)


def isrealobj(x):
    """Whether the element type of something is not complex."""
    return not iscomplexobj(x)
