"""AdamW: Adam with the weight decay outside the adaptive step."""

from mxcy.optimizer.optimizer import Optimizer, register
from mxcy.optimizer.scaled import corrected_rates, update_scaled
from mxcy.optimizer.states import zeros_like
from mxcy.optimizer.whole_steps import WholeStep

__all__ = ["AdamW"]


@register
class AdamW(Optimizer):
    """Adam with decoupled weight decay (Loshchilov & Hutter, 2017).

    Parameters
    ----------
    learning_rate : float
        The rate.
    beta1, beta2 : float
        Decay rates of the first and the second moment.
    epsilon : float
        Added to the root of the second moment.
    correct_bias : bool
        Apply bias correction to both moments.
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

    def _whole_step(self, indices, states):
        if states != 2:
            return None
        self._update_count(indices)
        counts = [self._index_update_count[i] for i in indices]
        return WholeStep(
            "_{}adamw_all",
            2,
            [
                [1.0] * len(indices),
                self._get_wds(indices),
                corrected_rates(self, self._get_lrs(indices), counts),
            ],
            beta1=self.beta1,
            beta2=self.beta2,
            epsilon=self.epsilon,
        )

    def _apply_many(self, weights, grads, states, lrs, wds, counts):
        update_scaled("adamw", self, weights, grads, states, lrs, wds, counts)
