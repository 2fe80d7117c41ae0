"""`mx.nd.contrib`: operators outside the core, tests for special numbers, control flow."""

import math

from mxcy.ndarray import namespaces
from mxcy.ndarray.control import cond, foreach, while_loop

__all__ = ["cond", "foreach", "isfinite", "isinf", "isnan", "while_loop"]

__getattr__, __dir__ = namespaces.offer(__name__, "contrib")


def isinf(data):
    """1 where an element is infinite, else 0.

    Parameters
    ----------
    data : NDArray

    Returns
    -------
    NDArray
        Of the dtype of `data`.
    """
    return data.abs() == math.inf


def isnan(data):
    """1 where an element is not a number, else 0; as `isinf`."""
    return data != data


def isfinite(data):
    """1 where an element is neither infinite nor NaN, else 0; as `isinf`."""
    return data.abs() < math.inf
