"""Signum: steps by the sign of the gradient or of its momentum."""

from mxcy import ndarray as nd
from mxcy.optimizer.optimizer import Optimizer, register
from mxcy.optimizer.states import zeros_like

__all__ = ["Signum"]


@register
class Signum(Optimizer):
    """SignSGD, and Signum with momentum (Bernstein et al., 2018).

    Parameters
    ----------
    learning_rate : float
        The rate.
    momentum : float
        The momentum; 0 gives SignSGD.
    wd_lh : float
        Weight decay outside the sign (Loshchilov & Hutter).
    **kwargs
        See `Optimizer`.
    """

    elementwise = True

    def __init__(self, learning_rate=0.01, momentum=0.9, wd_lh=0.0, **kwargs):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.momentum = momentum
        self.wd_lh = wd_lh

    def create_state(self, index, weight):
        return zeros_like(weight, stype=weight.stype) if self.momentum != 0.0 else None

    def _apply(self, weight, grad, state, lr, wd, count):
        arguments = {"out": weight, "lr": lr, "wd": wd, **self._operator_arguments()}
        if state is None:
            nd.signsgd_update(weight, grad, **arguments)
        else:
            arguments |= {"momentum": self.momentum, "wd_lh": self.wd_lh}
            nd.signum_update(weight, grad, state, **arguments)
