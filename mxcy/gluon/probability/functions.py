"""Functions of distribution parameters, which are numbers or arrays.

Numbers remain Python numbers, so that they never determine a result's dtype.
"""

from numbers import Number

import numpy as onp

from mxcy import _deferred_compute, autograd
from mxcy import numpy as np
from mxcy import numpy_extension as npx
from mxcy.numpy._calls.operands import as_np_array, is_array
from mxcy.ops.elementwise.special import digamma_of, lgamma_of

__all__ = [
    "absolute",
    "as_parameter",
    "cached_property",
    "digamma",
    "exp",
    "gammaln",
    "lbeta",
    "log",
    "log1p",
    "log_sum_exp",
    "softplus",
    "sqrt",
    "sum_right_most",
    "times_log",
    "where",
]


def _of_both(of_number, of_array, doc):
    """Create a function that accepts numbers as well as arrays."""

    def function(x):
        if not isinstance(x, Number):
            return of_array(x)
        with onp.errstate(all="ignore"):
            return float(of_number(x))

    function.__doc__ = doc
    return function


absolute = _of_both(abs, np.abs, "The absolute value.")
digamma = _of_both(digamma_of, npx.digamma, "The derivative of `gammaln`.")
exp = _of_both(onp.exp, np.exp, "The exponential.")
gammaln = _of_both(lgamma_of, npx.gammaln, "The logarithm of the gamma function.")
log = _of_both(onp.log, np.log, "The natural logarithm.")
log1p = _of_both(onp.log1p, np.log1p, "``log(1 + x)``.")
softplus = _of_both(
    lambda x: onp.logaddexp(x, 0.0), lambda x: np.logaddexp(x, 0.0), "``log(1 + exp(x))``."
)
sqrt = _of_both(onp.sqrt, np.sqrt, "The square root.")


def where(condition, x, y):
    """`x` where a condition (a boolean or an array) holds, `y` elsewhere."""
    if isinstance(condition, (bool, onp.bool_)):
        return x if condition else y
    return np.where(condition, x, y)


def times_log(x, y):
    """``x * log(y)``, with value 0 and finite gradients where both are 0."""
    if isinstance(y, Number):
        return x * log(y) if y else where(x == 0, 0.0, x * -onp.inf)
    if isinstance(x, Number):
        return x * np.log(y if x else np.where(y == 0, 1.0, y))
    return x * np.log(np.where((x == 0) & (y == 0), 1.0, y))


def lbeta(a, b):
    """The logarithm of the beta function."""
    return gammaln(a) + gammaln(b) - gammaln(a + b)


def log_sum_exp(x):
    """The logarithm of the sum of exponentials along the last axis."""
    top = npx.stop_gradient(np.max(x, axis=-1, keepdims=True))
    return np.squeeze(top, axis=-1) + np.log(np.sum(np.exp(x - top), axis=-1))


def sum_right_most(x, ndim):
    """Sum over the last dimensions.

    Parameters
    ----------
    x : ndarray
    ndim : int
        Number of dimensions.

    Returns
    -------
    ndarray
    """
    return x if ndim == 0 else np.sum(x, axis=tuple(range(-ndim, 0)))


def as_parameter(value, name):
    """Convert a number to a Python number, anything else to an array.

    Parameters
    ----------
    value : float or array_like
    name : str
        Name for the error message.

    Raises
    ------
    TypeError
        If it is neither.
    """
    if isinstance(value, onp.generic):
        value = value.item()
    if isinstance(value, Number):
        return value
    if is_array(value):
        return value.as_np_ndarray()
    try:
        return as_np_array(value)
    except TypeError:
        raise TypeError(f"{name}: expected a number or an array, got {value!r:.80}") from None


class cached_property:  # noqa: N801 - its name in MXNet
    """A property that is cached, except while operations are recorded.

    A value computed while recording or tracing belongs to that graph, which the distribution may
    outlive.

    Parameters
    ----------
    func : callable
        Computes the value from the instance.
    """

    def __init__(self, func):
        self._func, self.__doc__ = func, func.__doc__

    def __get__(self, instance, cls=None):
        if instance is None:
            return self
        value = self._func(instance)
        if not autograd.is_recording() and not _deferred_compute.is_deferred_compute():
            instance.__dict__[self._func.__name__] = value
        return value
