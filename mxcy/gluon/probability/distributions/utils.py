"""Special functions, and conversions of distribution parameters."""

from numbers import Number

import numpy as onp

from mxcy import numpy as np
from mxcy import numpy_extension as npx
from mxcy.gluon.probability.functions import cached_property, exp, log, log1p, sum_right_most

__all__ = [
    "cached_property",
    "constraint_check",
    "digamma",
    "erf",
    "erfinv",
    "gammaln",
    "logit2prob",
    "prob2logit",
    "sample_n_shape_converter",
    "sum_right_most",
]


def constraint_check():
    """Return a function ``(condition, message)`` that raises ValueError unless all are true.

    Returns
    -------
    callable
    """

    def check(condition, message):
        if isinstance(condition, (bool, onp.bool_)):
            if not condition:
                raise ValueError(message)
            return 1.0
        return npx.constraint_check(condition, message)

    return check


def digamma():
    """Return the digamma function.

    Returns
    -------
    callable
    """
    return npx.digamma


def gammaln():
    """Return the log-gamma function.

    Returns
    -------
    callable
    """
    return npx.gammaln


def erf():
    """Return the error function.

    Returns
    -------
    callable
    """
    return npx.erf


def erfinv():
    """Return the inverse error function.

    Returns
    -------
    callable
    """
    return npx.erfinv


def logit2prob(logit, binary=True):
    """Convert logits to probabilities.

    Parameters
    ----------
    logit : float or ndarray
    binary : bool
        Whether each element is the log odds of a binary event; otherwise the last axis holds
        unnormalized log-probabilities.

    Returns
    -------
    float or ndarray
    """
    if not binary:
        return npx.softmax(logit, axis=-1)
    return 1 / (1 + exp(-logit)) if isinstance(logit, Number) else npx.sigmoid(logit)


def prob2logit(prob, binary=True):
    """Convert probabilities to logits.

    Parameters
    ----------
    prob : float or ndarray
        Probabilities; 0 and 1 are replaced by the nearest numbers with finite logits.
    binary : bool
        See `logit2prob`.

    Returns
    -------
    float or ndarray
    """
    info = onp.finfo("float32" if isinstance(prob, Number) else prob.dtype)
    low, high = float(info.tiny), 1 - float(info.epsneg)
    if isinstance(prob, Number):
        prob = min(max(prob, low), high)
    else:
        prob = np.clip(prob, low, high)
    return log(prob) - log1p(-prob) if binary else log(prob)


def sample_n_shape_converter(size):
    """Convert a size for `sample_n` to the operators' ``size`` argument.

    Parameters
    ----------
    size : int or tuple of int, optional

    Returns
    -------
    tuple of int or None
        The size with -2 for the shape of the parameters; None for one sample each.
    """
    if size is None or size == ():
        return None
    return (-2, *((size,) if isinstance(size, int) else size))
