"""FTML: follow the moving leader."""

from mxcy import ndarray as nd
from mxcy.optimizer.optimizer import Optimizer, register
from mxcy.optimizer.states import zeros_like

__all__ = ["FTML"]


@register
class FTML(Optimizer):
    """Follow the moving leader in deep learning (Zheng & Kwok, 2017).

    Parameters
    ----------
    beta1, beta2 : float
        Decay rates of the first and the second moment.
    epsilon : float
        Added to the root of the second moment.
    **kwargs
        See `Optimizer`.
    """

    elementwise = True
    _in_mxnet_2 = {"learning_rate": 0.0025, "beta1": 0.6, "beta2": 0.999, "epsilon": 1e-8}

    def __init__(self, beta1=0.6, beta2=0.999, epsilon=1e-8, **kwargs):
        super().__init__(**kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon

    def create_state(self, index, weight):
        return tuple(zeros_like(weight) for _ in range(3))

    def _apply(self, weight, grad, state, lr, wd, count):
        arguments = {"wd": wd, "rescale_grad": self.rescale_grad}
        if self.clip_gradient:
            arguments["clip_grad"] = self.clip_gradient
        if self._decays_after_clipping(wd):
            grad, arguments = self._decayed(grad, weight, wd), {}
        nd.ftml_update(
            weight,
            grad,
            *state,
            out=weight,
            lr=lr,
            beta1=self.beta1,
            beta2=self.beta2,
            epsilon=self.epsilon,
            t=count,
            **arguments,
        )
