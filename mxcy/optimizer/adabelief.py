"""AdaBelief: Adam that measures how far gradients are from what was expected."""

from mxcy import ndarray as nd
from mxcy.optimizer.optimizer import Optimizer, register, zeros_like

__all__ = ["AdaBelief"]


@register
class AdaBelief(Optimizer):
    """AdaBelief (Zhuang et al., 2020).

    Parameters
    ----------
    learning_rate : float
        The rate.
    beta1, beta2 : float
        How much of the first moment and of the squared surprise is kept at every update.
    epsilon : float
        Added to the squared surprise and to its root.
    correct_bias : bool
        Correct both for their start at 0.
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
        grad = self._rescaled(grad) + wd * weight
        mean, surprise = state
        mean *= self.beta1
        mean += (1.0 - self.beta1) * grad
        surprise *= self.beta2
        surprise += (1.0 - self.beta2) * nd.square(grad - mean) + self.epsilon
        if self.correct_bias:
            lr *= (1.0 - self.beta2**count) ** 0.5 / (1.0 - self.beta1**count)
        weight -= lr * mean / (nd.sqrt(surprise) + self.epsilon)
