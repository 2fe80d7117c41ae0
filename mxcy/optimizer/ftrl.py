"""FTRL: follow the regularized leader, for sparse models."""

from mxcy import ndarray as nd
from mxcy.optimizer.optimizer import Optimizer, register
from mxcy.optimizer.states import zeros_like

__all__ = ["Ftrl"]


@register
class Ftrl(Optimizer):
    """FTRL-proximal (McMahan et al., 2013): weights with little evidence become exactly 0.

    Parameters
    ----------
    lamda1 : float
        L1 penalty.
    learning_rate : float
        The rate.
    beta : float
        Added to the root of the summed squared gradients.
    **kwargs
        See `Optimizer`.
    """

    elementwise = True
    _in_mxnet_2 = {"learning_rate": 0.1, "lamda1": 0.01, "beta": 1.0}

    def __init__(self, lamda1=0.01, learning_rate=0.1, beta=1, **kwargs):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.lamda1 = lamda1
        self.beta = beta

    def create_state(self, index, weight):
        return tuple(zeros_like(weight, stype=weight.stype) for _ in range(2))

    def _apply(self, weight, grad, state, lr, wd, count):
        nd.ftrl_update(
            weight,
            grad,
            *state,
            out=weight,
            lr=lr,
            lamda1=self.lamda1,
            beta=self.beta,
            wd=wd,
            **self._operator_arguments(),
        )
