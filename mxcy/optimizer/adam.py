"""Adam: steps scaled by running moments of the gradient."""

from math import sqrt

from mxcy import ndarray as nd
from mxcy.optimizer.optimizer import Optimizer, register
from mxcy.optimizer.states import lazy_stype, warn_of_lazy_updates, zeros_like
from mxcy.optimizer.whole_steps import WholeStep

__all__ = ["Adam"]


@register
class Adam(Optimizer):
    """Adam (Kingma & Ba, 2014), with the bias correction folded into the learning rate.

    Parameters
    ----------
    learning_rate : float
        The rate.
    beta1, beta2 : float
        Decay rates of the first and the second moment.
    epsilon : float
        Added to the root of the second moment.
    lazy_update : bool
        For row_sparse gradients: skip rows without gradient.
    **kwargs
        See `Optimizer`.
    """

    elementwise = True
    _in_mxnet_2 = {
        "learning_rate": 0.001,
        "beta1": 0.9,
        "beta2": 0.999,
        "epsilon": 1e-8,
        "lazy_update": False,
    }

    def __init__(
        self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, lazy_update=True, **kwargs
    ):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.lazy_update = lazy_update

    def create_state(self, index, weight):
        stype = lazy_stype(weight, self.lazy_update)
        return (zeros_like(weight, stype=stype), zeros_like(weight, stype=stype))

    def _whole_step(self, indices, states):
        if states != 2 or self._decays_after_clipping(any(self._get_wds(indices))):
            return None
        self._update_count(indices)
        counts = map(self._index_update_count.__getitem__, indices)
        lrs = list(map(self._corrected, self._get_lrs(indices), counts))
        return WholeStep(
            "_{}adam_all",
            2,
            [lrs, self._get_wds(indices)],
            beta1=self.beta1,
            beta2=self.beta2,
            epsilon=self.epsilon,
        )

    def _corrected(self, lr, count):
        """The learning rate multiplied by both bias corrections."""
        return lr * sqrt(1.0 - self.beta2**count) / (1.0 - self.beta1**count)

    def _apply(self, weight, grad, state, lr, wd, count):
        mean, var = state
        if self.lazy_update and grad.stype != "default":
            warn_of_lazy_updates(self)
        arguments = {"wd": wd, **self._operator_arguments()}
        if self._decays_after_clipping(wd) and grad.stype == "default":
            grad, arguments = self._decayed(grad, weight, wd), {}
        nd.adam_update(
            weight,
            grad,
            mean,
            var,
            out=weight,
            lr=self._corrected(lr, count),
            beta1=self.beta1,
            beta2=self.beta2,
            epsilon=self.epsilon,
            lazy_update=self.lazy_update,
            **arguments,
        )
