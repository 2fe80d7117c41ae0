"""`mx.np` functions that check whether arrays share memory."""

import numpy as onp

from mxcy.numpy._calls.operands import is_array

__all__ = ["may_share_memory", "shares_memory"]


def shares_memory(a, b, max_work=None):
    """Return whether two arrays share elements in memory.

    Parameters
    ----------
    a, b : ndarray, NDArray or numpy.ndarray
    max_work : int, optional
        As in NumPy.

    Returns
    -------
    bool
    """
    views = [x.read_view() if is_array(x) else x for x in (a, b)]
    return bool(onp.shares_memory(*views, max_work=max_work))


may_share_memory = shares_memory
