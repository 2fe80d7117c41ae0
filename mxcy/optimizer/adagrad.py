"""AdaGrad: steps scaled by the sum of squared past gradients."""

from mxcy import ndarray as nd
from mxcy.optimizer.defaults import decays_in_gradient
from mxcy.optimizer.optimizer import Optimizer, register
from mxcy.optimizer.states import zeros_like

__all__ = ["AdaGrad"]


@register
class AdaGrad(Optimizer):
    """AdaGrad (Duchi et al., 2011).

    With ``g = clip(rescale_grad * grad)``, one update is ``history += g**2;
    weight -= lr * (g / sqrt(history + eps) + wd * weight)``. With the profile of MXNet 2,
    `wd * weight` is part of g, and ``weight -= lr * g / (sqrt(history) + eps)`` if g is dense.

    Parameters
    ----------
    eps : float
        Added under the root.
    **kwargs
        See `Optimizer`; `epsilon` is an alias of `eps`.
    """

    elementwise = True
    _names_of_mxnet_2 = {"epsilon": "float_stable_eps"}
    _in_mxnet_2 = {"learning_rate": 0.01, "epsilon": 1e-6}

    def __init__(self, eps=1e-7, **kwargs):
        self.float_stable_eps = kwargs.pop("epsilon", eps)
        super().__init__(**kwargs)

    def create_state(self, index, weight):
        return zeros_like(weight, stype=weight.stype)

    def _apply(self, weight, grad, state, lr, wd, count):
        if grad.stype == "row_sparse" and wd == 0:
            nd.sparse.adagrad_update(
                weight,
                grad,
                state,
                out=weight,
                lr=lr,
                epsilon=self.float_stable_eps,
                **self._operator_arguments(),
            )
            return
        grad = self._rescaled(grad)
        if decays_in_gradient():
            grad = grad + wd * weight
            state += nd.square(grad)
            weight -= lr * grad / (nd.sqrt(state) + self.float_stable_eps)
            return
        state += nd.square(grad)
        weight -= (grad / nd.sqrt(state + self.float_stable_eps) + weight * wd) * lr
