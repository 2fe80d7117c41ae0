"""LARS: one trust ratio per layer, for large batches."""

from mxcy import ndarray as nd
from mxcy.optimizer.optimizer import Optimizer, register, zeros_like

__all__ = ["LARS"]


@register
class LARS(Optimizer):
    """Layer-wise adaptive rate scaling (You et al., 2017) of momentum SGD.

    The rate of a layer is multiplied by
    ``eta * norm(weight) / (norm(rescale_grad * grad) + wd * norm(weight) + eps)``. Parameters whose
    names end in gamma, beta or bias keep the plain rate.

    Parameters
    ----------
    momentum : float
        The momentum.
    lazy_update : bool
        For row-sparse gradients: leave rows without gradient alone.
    eta : float
        The trust coefficient.
    eps : float
        Added to the denominator.
    momentum_correction : bool
        Multiply the momentum by the ratio of the new and the old rate when the rate changes.
    **kwargs
        See `Optimizer`.
    """

    _names_of_mxnet_2 = {"epsilon": "eps"}

    def __init__(
        self,
        momentum=0.0,
        lazy_update=True,
        eta=0.001,
        eps=0,
        momentum_correction=True,
        **kwargs,
    ):
        self.eps = kwargs.pop("epsilon", eps)
        super().__init__(**kwargs)
        self.momentum = momentum
        self.momentum_correction = momentum_correction
        self.lazy_update = lazy_update
        self.eta = eta
        self.last_lr = None
        self.cur_lr = None
        self._update_of_cur_lr = None

    def set_wd_mult(self, args_wd_mult):
        """Set the decay multipliers; only parameters named ``*_weight`` decay by default."""
        never = {name: 0.0 for name in self.idx2name.values() if not name.endswith("_weight")}
        super().set_wd_mult({**never, **args_wd_mult})

    def create_state(self, index, weight):
        return zeros_like(weight) if self.momentum != 0.0 else None

    def update(self, index, weight, grad, state):
        if isinstance(index, (list, tuple)):
            super().update(index, weight, grad, state)
            return
        self._update_count(index)
        self._follow_rate()
        lr, wd = self._get_lr(index), self._get_wd(index)
        if not self.idx2name.get(index, "").endswith(("gamma", "beta", "bias")):
            lr *= self._trust_ratio(weight, grad, wd)
        arguments = self._operator_arguments()
        arguments.update(lr=lr, wd=wd, out=weight)
        if state is None:
            nd.sgd_update(weight, grad, **arguments)
        else:
            momentum = self.momentum
            if self.momentum_correction and self.last_lr:
                momentum *= self.cur_lr / self.last_lr
            nd.sgd_mom_update(weight, grad, state, momentum=momentum, **arguments)

    def _follow_rate(self):
        if self._update_of_cur_lr != self.num_update:
            self._update_of_cur_lr = self.num_update
            lr = self.learning_rate
            self.last_lr = lr if self.cur_lr is None else self.cur_lr
            self.cur_lr = lr

    def _trust_ratio(self, weight, grad, wd):
        weight_norm = weight.norm().asscalar()
        grad_norm = (grad * self.rescale_grad).norm().asscalar()
        if not weight_norm or not grad_norm:
            return 1.0
        return self.eta * weight_norm / (grad_norm + wd * weight_norm + self.eps)
