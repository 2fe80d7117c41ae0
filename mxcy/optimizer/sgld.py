"""SGLD: noisy gradient descent that samples from a posterior."""

from math import sqrt

from mxcy import ndarray as nd
from mxcy.optimizer.optimizer import Optimizer, register

__all__ = ["SGLD"]


@register
class SGLD(Optimizer):
    """Stochastic gradient Langevin dynamics (Patterson & Teh, 2013).

    Parameters
    ----------
    **kwargs
        See `Optimizer`.
    """

    _in_mxnet_2 = {"learning_rate": 0.1}

    def __init__(self, **kwargs):
        super().__init__(**kwargs)

    def _apply(self, weight, grad, state, lr, wd, count):
        noise = nd.random.normal(
            0, sqrt(lr), shape=weight.shape, dtype=weight.dtype, ctx=weight.context
        )
        weight += -lr / 2 * (self._rescaled(grad) + wd * weight) + noise
