"""LANS: LAMB with normalized gradients and Nesterov's momentum."""

from mxcy import ndarray as nd
from mxcy.optimizer.lamb import LAMB
from mxcy.optimizer.optimizer import register

__all__ = ["LANS"]


@register
class LANS(LAMB):
    """Accelerated large-batch optimization (Zheng et al., 2020).

    Parameters
    ----------
    learning_rate : float
        The rate.
    beta1, beta2 : float
        Decay rates of the first and the second moment.
    epsilon : float
        Added to the root of the second moment.
    lower_bound, upper_bound : float, optional
        Bounds of the weight's norm in the trust ratios.
    **kwargs
        See `Optimizer`.
    """

    _operator = "lans"

    def __init__(
        self,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-6,
        lower_bound=None,
        upper_bound=None,
        **kwargs,
    ):
        super().__init__(learning_rate, beta1, beta2, epsilon, lower_bound, upper_bound, **kwargs)

    def _own_arguments(self):
        return {}

    def _change(self, weight, mean, var, grad, lr, wd, count):
        grad = grad * self.rescale_grad
        grad = self._clipped(grad / grad.as_nd_ndarray().norm().asscalar())
        mean *= self.beta1
        mean += (1.0 - self.beta1) * grad
        var *= self.beta2
        var += (1.0 - self.beta2) * nd.square(grad)
        root = nd.sqrt(var / (1.0 - self.beta2**count)) + self.epsilon
        slow = mean / (1.0 - self.beta1**count) / root + wd * weight
        fast = grad / root + wd * weight
        slow *= self.beta1 * self._trust_ratio(weight, slow)
        fast *= (1.0 - self.beta1) * self._trust_ratio(weight, fast)
        weight -= lr * (slow + fast)
