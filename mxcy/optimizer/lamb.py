"""LAMB: Adam with one trust ratio per layer, for large batches."""

import numpy as np

from mxcy import ndarray as nd
from mxcy.optimizer.optimizer import Optimizer, register
from mxcy.optimizer.states import in_turns, zeros_like

__all__ = ["LAMB"]


@register
class LAMB(Optimizer):
    """Layer-wise adaptive moments (You et al., 2019).

    Parameters
    ----------
    learning_rate : float
        The rate.
    beta1, beta2 : float
        Decay rates of the first and the second moment.
    epsilon : float
        Added to the root of the second moment.
    lower_bound, upper_bound : float, optional
        Bounds of the weight's norm in the trust ratio.
    bias_correction : bool
        Apply bias correction to both moments.
    **kwargs
        See `Optimizer`.
    """

    _most_together = 45
    _operator = "lamb"

    def __init__(
        self,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-6,
        lower_bound=None,
        upper_bound=None,
        bias_correction=True,
        **kwargs,
    ):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound
        self.bias_correction = bias_correction

    def create_state(self, index, weight):
        return tuple(zeros_like(weight, stype=weight.stype) for _ in range(2))

    def _apply_many(self, weights, grads, states, lrs, wds, counts):
        if any(array.dtype != np.float32 for array in (*weights, *grads)):
            super()._apply_many(weights, grads, states, lrs, wds, counts)
            return
        means, variances = zip(*states, strict=True)
        bounds = {"lower_bound": self.lower_bound, "upper_bound": self.upper_bound}
        arguments = {name: value for name, value in bounds.items() if value is not None}
        arguments.update(self._operator_arguments(), **self._own_arguments())
        getattr(nd._internal, f"_multi_{self._operator}_update")(
            *in_turns(weights, grads, means, variances),
            out=weights,
            num_tensors=len(weights),
            learning_rates=lrs,
            wds=wds,
            step_count=counts,
            beta1=self.beta1,
            beta2=self.beta2,
            epsilon=self.epsilon,
            **arguments,
        )

    def _own_arguments(self):
        """The operator's arguments that are specific to this optimizer."""
        return {"bias_correction": self.bias_correction}

    def _apply(self, weight, grad, state, lr, wd, count):
        kind = "float64" if weight.dtype == np.float64 else "float32"  # float16 is too imprecise
        stored = (weight, *state)
        masters = [array.astype(kind, copy=False) for array in stored]
        self._change(*masters, grad.astype(kind, copy=False), lr, wd, count)
        for array, changed in zip(stored, masters, strict=True):
            if changed is not array:
                array[:] = changed

    def _change(self, weight, mean, var, grad, lr, wd, count):
        """Update a weight and its moments in place; all have the same dtype."""
        grad = self._rescaled(grad)
        mean *= self.beta1
        mean += (1.0 - self.beta1) * grad
        var *= self.beta2
        var += (1.0 - self.beta2) * nd.square(grad)
        step, root = mean, nd.sqrt(var)
        if self.bias_correction:
            step = mean / (1.0 - self.beta1**count)
            root = nd.sqrt(var / (1.0 - self.beta2**count))
        step = step / (root + self.epsilon) + wd * weight
        weight -= lr * self._trust_ratio(weight, step) * step

    def _trust_ratio(self, weight, step):
        weight_norm = weight.as_nd_ndarray().norm().asscalar()
        if self.lower_bound is not None:
            weight_norm = max(weight_norm, self.lower_bound)
        if self.upper_bound is not None:
            weight_norm = min(weight_norm, self.upper_bound)
        step_norm = step.as_nd_ndarray().norm().asscalar()
        return weight_norm / step_norm if weight_norm and step_norm else 1.0
