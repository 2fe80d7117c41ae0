"""Nesterov's accelerated gradient."""

from mxcy import ndarray as nd
from mxcy.optimizer.optimizer import Optimizer, register
from mxcy.optimizer.states import zeros_like

__all__ = ["NAG"]


@register
class NAG(Optimizer):
    """Stochastic gradient descent with Nesterov's momentum.

    With ``g = clip(rescale_grad * grad) + wd * weight``, one update is
    ``mom = momentum * mom - lr * g; weight += momentum * mom - lr * g``.

    Parameters
    ----------
    momentum : float
        The momentum; 0 is plain gradient descent.
    **kwargs
        See `Optimizer`.
    """

    _master_first = False
    _in_mxnet_2 = {"learning_rate": 0.1, "momentum": 0.9, "multi_precision": False}

    def __init__(self, momentum=0.0, **kwargs):
        super().__init__(**kwargs)
        self.momentum = momentum

    def create_state(self, index, weight):
        return zeros_like(weight) if self.momentum != 0.0 else None

    def _apply(self, weight, grad, state, lr, wd, count):
        if state is None and grad.stype != "default":
            arguments = self._operator_arguments()
            nd.sgd_update(weight, grad, out=weight, lr=lr, wd=wd, **arguments)
            return
        grad = self._rescaled(grad)
        if state is None:
            weight -= lr * (grad + wd * weight)
            return
        state *= self.momentum
        look_ahead = self.momentum * state - (1.0 + self.momentum) * lr * (grad + wd * weight)
        weight += look_ahead
        # MXNet decays the stored momentum by the weight that it has just changed.
        state -= lr * (grad + wd * weight)
