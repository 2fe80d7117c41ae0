"""AdamW: Adam with the weight decay outside the adaptive step."""

from mxcy import ndarray as nd
from mxcy.optimizer.optimizer import Optimizer, register, zeros_like

__all__ = ["AdamW"]


@register
class AdamW(Optimizer):
    """Adam with decoupled weight decay (Loshchilov & Hutter, 2017).

    Parameters
    ----------
    learning_rate : float
        The rate.
    beta1, beta2 : float
        How much of the first and the second moment is kept at every update.
    epsilon : float
        Added to the root of the second moment.
    correct_bias : bool
        Correct both moments for their start at 0.
    **kwargs
        See `Optimizer`.
    """

    def __init__(
        self,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-6,
        correct_bias=True,
        **kwargs,
    ):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.correct_bias = correct_bias

    def create_state(self, index, weight):
        return (zeros_like(weight), zeros_like(weight))

    def _apply(self, weight, grad, state, lr, wd, count):
        grad = self._rescaled(grad)
        mean, var = state
        mean *= self.beta1
        mean += (1.0 - self.beta1) * grad
        var *= self.beta2
        var += (1.0 - self.beta2) * nd.square(grad)
        rate = lr
        if self.correct_bias:
            rate *= (1.0 - self.beta2**count) ** 0.5 / (1.0 - self.beta1**count)
        weight -= rate * (mean / (nd.sqrt(var) + self.epsilon) + wd * weight)
