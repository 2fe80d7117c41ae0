"""LBSGD: momentum SGD for large batches, with warm-up."""

from math import sqrt

from mxcy import ndarray as nd
from mxcy.optimizer.optimizer import Optimizer, register
from mxcy.optimizer.states import zeros_like

__all__ = ["LBSGD"]

_WARMUPS = {
    "linear": lambda progress: progress,
    "power2": lambda progress: progress * progress,
    "sqrt": sqrt,
}


@register
class LBSGD(Optimizer):
    """Momentum SGD that takes one step per `batch_scale` batches, with a warm-up of the rate.

    Parameters
    ----------
    momentum : float
        The momentum.
    multi_precision : bool
        Keep a float32 copy of float16 weights and update that.
    warmup_strategy : {'linear', 'power2', 'sqrt', 'lars'}
        How the rate's multiplier rises from 1 to `batch_scale`; 'lars' instead computes one
        multiplier per layer from the norms of weight and gradient.
    warmup_epochs : int
        Length of the warm-up.
    batch_scale : int
        Number of batches whose gradients are averaged for one step.
    updates_per_epoch : int
        Batches per epoch.
    begin_epoch, num_epochs : int
        Range of epochs of the training.
    **kwargs
        See `Optimizer`.
    """

    def __init__(
        self,
        momentum=0.0,
        multi_precision=False,
        warmup_strategy="linear",
        warmup_epochs=5,
        batch_scale=1,
        updates_per_epoch=32,
        begin_epoch=0,
        num_epochs=60,
        **kwargs,
    ):
        super().__init__(multi_precision=multi_precision, **kwargs)
        self.momentum = momentum
        self.warmup_strategy = warmup_strategy
        self.warmup_epochs = warmup_epochs
        self.batch_scale = batch_scale
        self.updates_per_epoch = updates_per_epoch
        self.init_updates = begin_epoch * updates_per_epoch
        self.num_epochs = num_epochs
        self.adaptive = warmup_strategy == "lars"
        self.cumgrads = {}

    def create_state(self, index, weight):
        return zeros_like(weight) if self.momentum != 0.0 else None

    def update(self, index, weight, grad, state):
        if isinstance(index, (list, tuple)):
            super().update(index, weight, grad, state)
            return
        self._update_count(index)
        grad = self._averaged(index, grad)
        if grad is None:
            return
        lr, wd = self._get_lr(index), self._get_wd(index)
        if self.adaptive:
            lr *= _norm_ratio(weight, grad, wd)
        else:
            lr *= self._warmup_multiplier(self.num_update + self.init_updates)
        arguments = self._operator_arguments()
        arguments.update(lr=lr, wd=wd, out=weight)
        if state is None:
            nd.sgd_update(weight, grad, **arguments)
        else:
            nd.sgd_mom_update(weight, grad, state, momentum=self.momentum, **arguments)

    def _averaged(self, index, grad):
        """The mean gradient of `batch_scale` batches, or None until all have arrived."""
        total, batches = self.cumgrads.pop(index, (0, 0))
        total, batches = total + grad, batches + 1
        if batches < self.batch_scale:
            self.cumgrads[index] = (total, batches)
            return None
        return total / self.batch_scale

    def _warmup_multiplier(self, updates):
        warmup_updates = self.warmup_epochs * self.updates_per_epoch
        if updates >= warmup_updates:
            return float(self.batch_scale)
        rise = _WARMUPS.get(self.warmup_strategy, lambda progress: 0.0)
        return 1.0 + (self.batch_scale - 1) * rise(updates / warmup_updates)


def _norm_ratio(weight, grad, wd):
    weight_square = nd.square(weight).sum().asscalar()
    grad_square = nd.square(grad).sum().asscalar()
    ratio = sqrt(weight_square / (grad_square + wd * weight_square + 1e-18))
    return min(max(ratio, 0.01), 100.0)
