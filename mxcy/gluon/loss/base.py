"""Base class and helpers of losses."""

import inspect

from mxcy import ndarray
from mxcy.gluon.block import HybridBlock
from mxcy.gluon.hybrid_block import calls_hybrid_forward

__all__ = ["Loss"]


class Loss(HybridBlock):
    """Base class of losses.

    Parameters
    ----------
    weight : float or None
        Factor of the loss.
    batch_axis : int
        Batch axis; the loss is averaged over all others.
    **kwargs
        See `Block`.
    """

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "hybrid_forward" in cls.__dict__ and "forward" not in cls.__dict__:
            cls.forward = _named_forward(cls.hybrid_forward)

    def __init__(self, weight, batch_axis, **kwargs):
        super().__init__(**kwargs)
        self._weight = weight
        self._batch_axis = batch_axis

    def __repr__(self):
        return f"{type(self).__name__}(batch_axis={self._batch_axis}, w={self._weight})"

    def _weighted(self, F, loss, sample_weight, factor=1.0):
        """The loss times the sample weights, the loss's own weight and `factor`."""
        weight = self._weight
        if factor != 1 and isinstance(weight, (int, float)):
            weight *= factor
        return _apply_weighting(F, loss, weight, sample_weight)

    def _mean(self, F, loss):
        """Average over all axes but the batch axis."""
        return F.mean(loss, axis=self._batch_axis, exclude=True)


# Other libraries import these two functions by MXNet's names.


def _apply_weighting(F, loss, weight=None, sample_weight=None):
    """The loss times optional sample weights and an optional weight of its own."""
    if sample_weight is not None:
        loss = F.broadcast_mul(loss, sample_weight)
    if weight is not None:
        assert isinstance(weight, (int, float)), "weight must be a number"
        loss = loss * weight
    return loss


def _reshape_like(F, x, y):
    """`x` in the shape of `y`."""
    return x.reshape(y.shape) if F is ndarray else F.reshape_like(x, y)


def softplus_of_minus_abs(F, x):
    """``log(1 + exp(-|x|))``, without overflow."""
    return F.Activation(-F.abs(x), act_type="softrelu")


def _named_forward(hybrid_forward):
    """Derive `forward` from `hybrid_forward`: the same arguments without `F`."""
    this, _, *arguments = inspect.signature(hybrid_forward).parameters.values()
    signature = inspect.Signature([this, *arguments])

    @calls_hybrid_forward
    def forward(self, *args, **kwargs):
        if kwargs:
            bound = signature.bind_partial(self, *args, **kwargs)
            bound.apply_defaults()
            args = bound.args[1:]
        return HybridBlock.forward(self, *args)

    forward.__signature__ = signature
    forward.__doc__ = "Compute the loss of each sample."
    return forward
