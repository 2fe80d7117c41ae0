"""AdaDelta: steps scaled by the ratio of past steps and gradients."""

from mxcy import ndarray as nd
from mxcy.optimizer.defaults import decays_in_gradient
from mxcy.optimizer.optimizer import Optimizer, register
from mxcy.optimizer.states import zeros_like

__all__ = ["AdaDelta"]


@register
class AdaDelta(Optimizer):
    """AdaDelta (Zeiler, 2012); it has no learning rate, and weights decay at rate `wd`.

    With the profile of MXNet 2, `wd * weight` is part of the gradient, and `learning_rate` scales
    the step.

    Parameters
    ----------
    rho : float
        Decay rate of both running averages.
    epsilon : float
        Added under both roots.
    **kwargs
        See `Optimizer`.
    """

    elementwise = True
    _in_mxnet_2 = {"learning_rate": 1.0, "rho": 0.9, "epsilon": 1e-6}

    def __init__(self, rho=0.9, epsilon=1e-5, **kwargs):
        super().__init__(**kwargs)
        self.rho = rho
        self.epsilon = epsilon

    def create_state(self, index, weight):
        return (zeros_like(weight), zeros_like(weight))

    def _apply(self, weight, grad, state, lr, wd, count):
        grad = self._rescaled(grad)
        as_in_2 = decays_in_gradient()
        if as_in_2:
            grad = grad + wd * weight
        mean_grad, mean_delta = state
        mean_grad *= self.rho
        mean_grad += (1.0 - self.rho) * nd.square(grad)
        delta = nd.sqrt(mean_delta + self.epsilon) / nd.sqrt(mean_grad + self.epsilon) * grad
        mean_delta *= self.rho
        mean_delta += (1.0 - self.rho) * nd.square(delta)
        weight -= lr * delta if as_in_2 else delta + wd * weight
