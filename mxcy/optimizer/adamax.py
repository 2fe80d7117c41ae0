"""Adamax: Adam with the infinity norm."""

from mxcy import ndarray as nd
from mxcy.optimizer.optimizer import Optimizer, register
from mxcy.optimizer.states import zeros_like

__all__ = ["Adamax"]


@register
class Adamax(Optimizer):
    """Adamax (Kingma & Ba, 2014, section 7).

    Parameters
    ----------
    learning_rate : float
        The rate.
    beta1, beta2 : float
        Decay rates of the first moment and of the infinity norm.
    **kwargs
        See `Optimizer`.
    """

    elementwise = True
    _in_mxnet_2 = {"learning_rate": 0.002, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}

    def __init__(self, learning_rate=0.002, beta1=0.9, beta2=0.999, **kwargs):
        self.epsilon = kwargs.pop("epsilon", 0.0)
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2

    def create_state(self, index, weight):
        return (zeros_like(weight), zeros_like(weight))

    def _apply(self, weight, grad, state, lr, wd, count):
        grad = self._decayed(grad, weight, wd)
        mean, largest = state
        mean *= self.beta1
        mean += (1.0 - self.beta1) * grad
        largest[:] = nd.maximum(self.beta2 * largest, nd.abs(grad))
        weight -= lr / (1.0 - self.beta1**count) * mean / (largest + self.epsilon)
