"""`mx.nd.contrib`: non-core operators, tests for special values, control flow."""

import math

from mxcy.context import current_context
from mxcy.ndarray import namespaces
from mxcy.ndarray._contrib.control import cond, foreach, while_loop
from mxcy.ndarray._contrib.graphs import *  # noqa: F403
from mxcy.ndarray._contrib.graphs import __all__ as _graphs
from mxcy.ndarray._contrib.updates import *  # noqa: F403
from mxcy.ndarray._contrib.updates import __all__ as _updates
from mxcy.ndarray.random import uniform

__all__ = ["cond", "foreach", "isfinite", "isinf", "isnan", "rand_zipfian", "while_loop"]
__all__ += _updates + _graphs

__getattr__, __dir__ = namespaces.offer(__name__, "contrib")


def rand_zipfian(true_classes, num_sampled, range_max, ctx=None):
    """Draw classes from an approximately log-uniform (Zipfian) distribution.

    Class c, of `range_max`, has the probability ``log((c + 2) / (c + 1)) / log(range_max + 1)``.

    Parameters
    ----------
    true_classes : NDArray
        Classes whose expected counts are returned as well.
    num_sampled : int
        Number of classes to draw, with replacement.
    range_max : int
        The number of classes.
    ctx : Context, optional
        Context of the results, by default the current one.

    Returns
    -------
    samples : NDArray
        int64, shape (num_sampled,).
    expected_count_true, expected_count_sampled : NDArray
        Expected counts of the true and the drawn classes, float64.
    """
    ctx = ctx or current_context()
    log_range = math.log(range_max + 1)

    def expected(classes):
        return ((classes + 2.0) / (classes + 1.0)).log() / log_range * num_sampled

    drawn = uniform(0, log_range, shape=(num_sampled,), dtype="float64", ctx=ctx)
    samples = (drawn.exp() - 1).astype("int64") % range_max
    true = true_classes.as_in_context(ctx).astype("float64")
    return samples, expected(true), expected(samples.astype("float64"))


def isinf(data):
    """Return 1 where an element is infinite, else 0.

    Parameters
    ----------
    data : NDArray

    Returns
    -------
    NDArray
        The result, with the dtype of `data`.
    """
    # Not by comparing with infinity, which becomes an integer for integers.
    return (data == data) * (data - data != 0)


def isnan(data):
    """Return 1 where an element is NaN, else 0; like `isinf`."""
    return data != data


def isfinite(data):
    """Return 1 where an element is neither infinite nor NaN, else 0; like `isinf`."""
    return data - data == 0
