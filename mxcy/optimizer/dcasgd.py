"""DCASGD: asynchronous SGD with compensation of delayed gradients."""

from mxcy import ndarray as nd
from mxcy.optimizer.optimizer import Optimizer, register
from mxcy.optimizer.states import zeros_like

__all__ = ["DCASGD"]


@register
class DCASGD(Optimizer):
    """Delay-compensated asynchronous SGD (Zheng et al., 2017).

    Parameters
    ----------
    momentum : float
        The momentum.
    lamda : float
        Strength of the compensation.
    **kwargs
        See `Optimizer`.
    """

    elementwise = True
    _in_mxnet_2 = {"learning_rate": 0.1, "momentum": 0.0, "lamda": 0.04}

    def __init__(self, momentum=0.0, lamda=0.04, **kwargs):
        super().__init__(**kwargs)
        self.momentum = momentum
        self.lamda = lamda

    def create_state(self, index, weight):
        return (zeros_like(weight) if self.momentum != 0.0 else None, weight.copy())

    def _apply(self, weight, grad, state, lr, wd, count):
        grad = self._rescaled(grad)
        momentum, before = state
        late = self.lamda * nd.square(grad) * (weight - before)
        step = lr * (grad + wd * weight + late)
        before[:] = weight
        if momentum is None:
            weight -= step
        else:
            momentum *= self.momentum
            momentum -= step
            weight += momentum
