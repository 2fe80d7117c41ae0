"""Stochastic gradient descent with momentum."""

from mxcy import ndarray as nd
from mxcy.optimizer.optimizer import Optimizer, register
from mxcy.optimizer.states import in_turns, lazy_stype, warn_of_lazy_updates, zeros_like
from mxcy.optimizer.whole_steps import momentum_step

__all__ = ["SGD", "ccSGD"]


@register
class SGD(Optimizer):
    """Stochastic gradient descent with momentum and weight decay.

    With ``g = clip(rescale_grad * grad) + wd * weight``, one update is
    ``mom = momentum * mom - lr * g; weight += mom``, or ``weight -= lr * g`` without momentum.

    Parameters
    ----------
    momentum : float
        The momentum.
    lazy_update : bool
        For row_sparse gradients: skip rows without gradient.
    multi_precision : bool
        Keep a float32 copy of float16 weights and update that.
    **kwargs
        See `Optimizer`.
    """

    elementwise = True
    _most_together = 60
    _master_first = False
    _in_mxnet_2 = {
        "learning_rate": 0.1,
        "momentum": 0.0,
        "lazy_update": False,
        "multi_precision": False,
    }

    def __init__(self, momentum=0.0, lazy_update=True, **kwargs):
        super().__init__(**kwargs)
        self.momentum = momentum
        self.lazy_update = lazy_update

    def create_state(self, index, weight):
        if self.momentum == 0.0:
            return None
        return zeros_like(weight, stype=lazy_stype(weight, self.lazy_update))

    def update(self, index, weight, grad, state):
        self._update(index, weight, grad, state, multi_precision=False)

    def update_multi_precision(self, index, weight, grad, state):
        first = weight[0] if isinstance(index, (list, tuple)) else weight
        self._update(index, weight, grad, state, multi_precision=self._has_master(first))

    def _whole_step(self, indices, states):
        return momentum_step(self, indices, states, "_{}sgd_mom_all")

    def _update(self, index, weight, grad, state, multi_precision):
        self._update_count(index)
        if not isinstance(index, (list, tuple)):
            index, weight, grad, state = [index], [weight], [grad], [state]
        rates, decays = self._get_lrs(index), self._get_wds(index)
        if len(weight) > 1 and all(array.stype == "default" for array in (*weight, *grad)):
            self._update_many(weight, grad, state, rates, decays, multi_precision)
            return
        for w, g, s, lr, wd in zip(weight, grad, state, rates, decays, strict=True):
            arguments = self._operator_arguments()
            arguments.update(lr=lr, wd=wd, out=w)
            if w.stype != "default" or g.stype != "default":
                arguments["lazy_update"] = self.lazy_update
                if self.lazy_update:
                    warn_of_lazy_updates(self)
            master, momentum = self._master_and_state(s) if multi_precision else (None, s)
            inputs = [w, g] if master is None else [w, g, master]
            if momentum is None:
                update = nd.mp_sgd_update if multi_precision else nd.sgd_update
            else:
                update = nd.mp_sgd_mom_update if multi_precision else nd.sgd_mom_update
                inputs.insert(2, momentum)
                arguments["momentum"] = self.momentum
            update(*inputs, **arguments)

    def _update_many(self, weights, grads, states, rates, decays, multi_precision):
        """Update weights with multi-weight operators."""
        momenta, masters = states, None
        if multi_precision:
            pairs = map(self._master_and_state, states)
            masters, momenta = map(list, zip(*pairs, strict=True))
        lists = [weights, grads]
        arguments = self._operator_arguments()
        name = "multi_mp_sgd" if multi_precision else "multi_sgd"
        if momenta[0] is not None:
            lists.append(momenta)
            name += "_mom"
            arguments["momentum"] = self.momentum
        if multi_precision:
            lists.append(masters)
        getattr(nd, f"{name}_update")(
            *in_turns(*lists),
            out=weights,
            lrs=rates,
            wds=decays,
            num_weights=len(weights),
            **arguments,
        )


@register
class ccSGD(SGD):  # noqa: N801 - its name in MXNet
    """Alias of `SGD`, under an old name."""

    elementwise = True

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
