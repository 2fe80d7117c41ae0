"""RMSProp: steps scaled by a running average of squared gradients."""

from mxcy import ndarray as nd
from mxcy.optimizer.defaults import puts_mean_first
from mxcy.optimizer.optimizer import Optimizer, register
from mxcy.optimizer.states import zeros_like

__all__ = ["RMSProp"]


@register
class RMSProp(Optimizer):
    """RMSProp (Tieleman & Hinton, 2012), or Graves' centred form of it (2013).

    With ``g = clip(rescale_grad * grad + wd * weight)``, under the profile of MXNet 2
    ``clip(rescale_grad * grad) + wd * weight``, and ``n`` the running average of ``g**2``,
    one update is ``weight -= lr * g / sqrt(n + epsilon)``; the centred form subtracts the square of
    the running average of ``g`` from ``n`` and gives the steps a momentum.

    Parameters
    ----------
    learning_rate : float
        The rate.
    gamma1 : float
        Decay rate of the running averages.
    gamma2 : float
        Momentum of the centred form.
    epsilon : float
        Added under the root.
    centered : bool
        Use the centred form.
    clip_weights : float, optional
        Weights are clipped to ``[-clip_weights, clip_weights]`` after the update.
    **kwargs
        See `Optimizer`; `rho` and `momentum` are aliases of `gamma1` and `gamma2`.
    """

    elementwise = True
    _names_of_mxnet_2 = {"rho": "gamma1", "momentum": "gamma2"}
    _in_mxnet_2 = {
        "learning_rate": 0.001,
        "rho": 0.9,
        "momentum": 0.9,
        "epsilon": 1e-8,
        "centered": False,
        "clip_weights": None,
    }

    def __init__(
        self,
        learning_rate=0.001,
        gamma1=0.9,
        gamma2=0.9,
        epsilon=1e-8,
        centered=False,
        clip_weights=None,
        **kwargs,
    ):
        self.gamma1 = kwargs.pop("rho", gamma1)
        self.gamma2 = kwargs.pop("momentum", gamma2)
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.centered = centered
        self.epsilon = epsilon
        self.clip_weights = clip_weights

    def create_state(self, index, weight):
        if puts_mean_first() and not self.centered:
            return zeros_like(weight, stype=weight.stype)
        return tuple(
            zeros_like(weight, stype=weight.stype) for _ in range(3 if self.centered else 1)
        )

    def _apply(self, weight, grad, state, lr, wd, count):
        arguments = {"wd": wd, **self._operator_arguments()}
        if self._decays_after_clipping(wd) and grad.stype == "default":
            grad, arguments = self._decayed(grad, weight, wd), {}
        if self.clip_weights:
            arguments["clip_weights"] = self.clip_weights
        if self.centered:
            arguments["gamma2"] = self.gamma2
        if puts_mean_first():
            state = (state[1], state[0], state[2]) if self.centered else (state,)
        update = nd.rmspropalex_update if self.centered else nd.rmsprop_update
        update(
            weight,
            grad,
            *state,
            out=weight,
            lr=lr,
            gamma1=self.gamma1,
            epsilon=self.epsilon,
            **arguments,
        )
