"""Rounding of gradients to levels with error feedback, as an operator."""

from mxcy import symbol
from mxcy.ndarray import CachedOp

__all__ = ["rounding"]


def rounding(kind, threshold):
    """An operator from gradient and residual to the rounded gradient and the new residual.

    Parameters
    ----------
    kind : {'1bit', '2bit'}
    threshold : float
        See `GradientCompression`.

    Returns
    -------
    CachedOp
    """
    gradient, lost = symbol.var("gradient"), symbol.var("lost")
    wanted = gradient + lost
    if kind == "1bit":
        sent = (wanted > threshold) * 2 - 1
    else:
        sent = ((wanted >= threshold) - (wanted <= -threshold)) * threshold
    return CachedOp(symbol.Group([sent, wanted - sent]))
