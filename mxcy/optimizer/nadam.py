"""Nadam: Adam with Nesterov's momentum."""

from mxcy import ndarray as nd
from mxcy.optimizer.optimizer import Optimizer, register
from mxcy.optimizer.states import zeros_like

__all__ = ["Nadam"]


@register
class Nadam(Optimizer):
    """Nadam (Dozat, 2015).

    Parameters
    ----------
    learning_rate : float
        The rate.
    beta1, beta2 : float
        Decay rates of the first and the second moment.
    epsilon : float
        Added to the root of the second moment.
    schedule_decay : float
        Speed of the momentum's warm-up.
    **kwargs
        See `Optimizer`.
    """

    def __init__(
        self,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-8,
        schedule_decay=0.004,
        **kwargs,
    ):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.schedule_decay = schedule_decay
        # As in MXNet, one product shared by all weights.
        self.m_schedule = 1.0

    def create_state(self, index, weight):
        return (zeros_like(weight), zeros_like(weight))

    def _momentum(self, count):
        return self.beta1 * (1.0 - 0.5 * pow(0.96, count * self.schedule_decay))

    def _apply(self, weight, grad, state, lr, wd, count):
        grad = self._decayed(grad, weight, wd)
        momentum, momentum_next = self._momentum(count), self._momentum(count + 1)
        self.m_schedule *= momentum
        m_schedule_next = self.m_schedule * momentum_next
        mean, var = state
        mean *= self.beta1
        mean += (1.0 - self.beta1) * grad
        var *= self.beta2
        var += (1.0 - self.beta2) * nd.square(grad)
        mean_now = (1.0 - momentum) * grad / (1.0 - self.m_schedule)
        mean_next = momentum_next * mean / (1.0 - m_schedule_next)
        root = nd.sqrt(var / (1.0 - pow(self.beta2, count)))
        weight -= lr * (mean_now + mean_next) / (root + self.epsilon)
