"""Nesterov's accelerated gradient."""

from mxcy import ndarray as nd
from mxcy.optimizer.defaults import decays_in_gradient
from mxcy.optimizer.optimizer import Optimizer, register
from mxcy.optimizer.states import zeros_like
from mxcy.optimizer.whole_steps import momentum_step

__all__ = ["NAG"]


@register
class NAG(Optimizer):
    """Stochastic gradient descent with Nesterov's momentum.

    With ``g = clip(rescale_grad * grad) + wd * weight``, one update is
    ``mom = momentum * mom - lr * g; weight += momentum * mom - lr * g``. With the profile of MXNet
    1.9, the stored momentum includes the decay of the updated weight.

    Parameters
    ----------
    momentum : float
        The momentum; 0 gives plain gradient descent.
    **kwargs
        See `Optimizer`.
    """

    elementwise = True
    _master_first = False
    _in_mxnet_2 = {"learning_rate": 0.1, "momentum": 0.9, "multi_precision": False}

    def __init__(self, momentum=0.0, **kwargs):
        super().__init__(**kwargs)
        self.momentum = momentum

    def create_state(self, index, weight):
        return zeros_like(weight) if self.momentum != 0.0 else None

    def _whole_step(self, indices, states):
        if decays_in_gradient() and any(self._get_wds(indices)):
            return None
        return momentum_step(self, indices, states, "_{}nag_mom_all")

    def _apply(self, weight, grad, state, lr, wd, count):
        arguments = {"out": weight, "lr": lr, "wd": wd, **self._operator_arguments()}
        if state is None:
            nd.sgd_update(weight, grad, **arguments)
            return
        if decays_in_gradient() and wd:
            grad = self._rescaled(grad) + wd * weight
            arguments = {"out": weight, "lr": lr}
        nd.nag_mom_update(weight, grad, state, momentum=self.momentum, **arguments)
