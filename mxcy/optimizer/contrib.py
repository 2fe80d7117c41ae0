"""Optimizers outside the main set."""

from mxcy import ndarray as nd
from mxcy.optimizer.optimizer import Optimizer, register

__all__ = ["GroupAdaGrad"]


@register
class GroupAdaGrad(Optimizer):
    """AdaGrad with one history per row of a matrix.

    With ``g = clip(rescale_grad * grad)``, one update is ``history += mean(g**2, axis=1);
    weight -= lr * g / sqrt(history + eps)``. There is no weight decay.

    Parameters
    ----------
    eps : float
        Added under the root.
    **kwargs
        See `Optimizer`; `epsilon` is an alias of `eps`.
    """

    _names_of_mxnet_2 = {"epsilon": "float_stable_eps"}
    _in_mxnet_2 = {"learning_rate": 0.01, "epsilon": 1e-6}

    def __init__(self, eps=1e-5, **kwargs):
        self.float_stable_eps = kwargs.pop("epsilon", eps)
        super().__init__(**kwargs)

    def create_state(self, index, weight):
        assert weight.ndim == 2, "GroupAdaGrad updates matrices only"
        return nd.zeros((weight.shape[0], 1), weight.context)

    def _apply(self, weight, grad, state, lr, wd, count):
        assert wd == 0, "Weight decay is not supported for GroupAdaGrad"
        if grad.stype == "row_sparse":
            nd.contrib.group_adagrad_update(
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
        state += nd.mean(nd.square(grad), axis=1, keepdims=True)
        weight -= lr * grad / nd.sqrt(state + self.float_stable_eps)
