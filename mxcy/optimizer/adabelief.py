"""AdaBelief: Adam scaled by the deviation of gradients from their running mean."""

from mxcy.optimizer.optimizer import Optimizer, register
from mxcy.optimizer.scaled import update_scaled
from mxcy.optimizer.states import zeros_like

__all__ = ["AdaBelief"]


@register
class AdaBelief(Optimizer):
    """AdaBelief (Zhuang et al., 2020).

    Parameters
    ----------
    learning_rate : float
        The rate.
    beta1, beta2 : float
        Decay rates of the first moment and of the squared deviation from it.
    epsilon : float
        Added to the squared deviation and to its root.
    correct_bias : bool
        Apply bias correction to both.
    **kwargs
        See `Optimizer`.
    """

    elementwise = True
    _most_together = 60

    def __init__(
        self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-6, correct_bias=True, **kwargs
    ):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.correct_bias = correct_bias

    def create_state(self, index, weight):
        return (zeros_like(weight), zeros_like(weight))

    def _apply_many(self, weights, grads, states, lrs, wds, counts):
        update_scaled("adabelief", self, weights, grads, states, lrs, wds, counts)
