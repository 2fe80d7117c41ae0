"""LARS: one trust ratio per layer, for large batches."""

from mxcy import ndarray as nd
from mxcy.optimizer.defaults import decays_all_weights
from mxcy.optimizer.optimizer import Optimizer, register
from mxcy.optimizer.states import in_turns, zeros_like

__all__ = ["LARS"]


@register
class LARS(Optimizer):
    """Layer-wise adaptive rate scaling (You et al., 2017) of momentum SGD.

    The rate of a layer is multiplied by
    ``eta * norm(weight) / (norm(rescale_grad * grad) + wd * norm(weight) + eps)``. Parameters whose
    names end in gamma, beta or bias use the plain rate.

    Parameters
    ----------
    momentum : float
        The momentum.
    lazy_update : bool
        For row_sparse gradients: skip rows without gradient.
    eta : float
        The trust coefficient.
    eps : float
        Added to the denominator.
    momentum_correction : bool
        When the rate changes, multiply the momentum by the ratio of the new and the old rate.
    **kwargs
        See `Optimizer`.
    """

    _most_together = 60
    _master_first = False
    _names_of_mxnet_2 = {"epsilon": "eps"}
    _in_mxnet_2 = {
        "learning_rate": 0.1,
        "momentum": 0.0,
        "eta": 0.001,
        "epsilon": 1e-8,
        "lazy_update": False,
    }

    def __init__(
        self, momentum=0.0, lazy_update=True, eta=0.001, eps=0, momentum_correction=True, **kwargs
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
        """Set the decay multipliers; only parameters named ``*_weight`` decay by default.

        Under the profile of MXNet 2 all do.
        """
        never = {}
        if not decays_all_weights():
            never = {name: 0.0 for name in self.idx2name.values() if not name.endswith("_weight")}
        super().set_wd_mult({**never, **args_wd_mult})

    def create_state(self, index, weight):
        return zeros_like(weight) if self.momentum != 0.0 else None

    def update(self, index, weight, grad, state):
        """Update one or several weights; see `Optimizer.update`."""
        if not isinstance(index, (list, tuple)):
            index, weight, grad, state = [index], [weight], [grad], [state]
        self._update_count(index)
        self._follow_rate()
        rates, decays = self._rates(index, weight, grad)
        lists, momentum = [weight, grad], {}
        if state[0] is not None:
            lists.append(state)
            momentum = {"momentum": self.momentum}
            if self.momentum_correction and self.last_lr:
                momentum["momentum"] *= self.cur_lr / self.last_lr
        update = nd.preloaded_multi_sgd_mom_update if momentum else nd.preloaded_multi_sgd_update
        update(
            *in_turns(*lists),
            rates,
            decays,
            out=weight,
            num_weights=len(weight),
            **momentum,
            **self._operator_arguments(),
        )

    def _rates(self, index, weights, grads):
        """The learning rates and weight decays of weights, as arrays."""
        ctx, n = weights[0].context, len(weights)
        rates = nd.array(self._get_lrs(index), ctx=ctx, dtype="float32")
        decays = nd.array(self._get_wds(index), ctx=ctx, dtype="float32")
        scaled = nd.multi_lars(
            rates,
            nd.multi_sum_sq(*weights, num_arrays=n),
            nd.multi_sum_sq(*grads, num_arrays=n),
            decays,
            eta=self.eta,
            eps=self.eps,
            rescale_grad=self.rescale_grad,
        )
        plain = [self.idx2name.get(i, "").endswith(("gamma", "beta", "bias")) for i in index]
        return nd.where(nd.array(plain, ctx=ctx, dtype="float32"), rates, scaled), decays

    def _follow_rate(self):
        if self._update_of_cur_lr != self.num_update:
            self._update_of_cur_lr = self.num_update
            lr = self.learning_rate
            self.last_lr = lr if self.cur_lr is None else self.cur_lr
            self.cur_lr = lr
