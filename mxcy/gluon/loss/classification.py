"""Classification losses."""

import math

from mxcy import profile
from mxcy.base import MXNetError
from mxcy.gluon.loss.base import Loss, softplus_of_minus_abs
from mxcy.util import is_np_array

__all__ = [
    "SigmoidBCELoss",
    "SigmoidBinaryCrossEntropyLoss",
    "SoftmaxCELoss",
    "SoftmaxCrossEntropyLoss",
    "KLDivLoss",
    "HingeLoss",
    "SquaredHingeLoss",
    "LogisticLoss",
    "PoissonNLLLoss",
]

_TINY = 1e-12


class SigmoidBinaryCrossEntropyLoss(Loss):
    """Cross entropy of independent binary decisions.

    Inputs are `pred` and `label` of one shape, optionally `sample_weight` (broadcast to them) and
    `pos_weight`, the weight of positive labels. The output has shape (batch size,).

    Parameters
    ----------
    from_sigmoid : bool
        Whether predictions are probabilities, after the sigmoid.
    weight, batch_axis, **kwargs
        See `Loss`.
    """

    def __init__(self, from_sigmoid=False, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._from_sigmoid = from_sigmoid

    def hybrid_forward(self, F, pred, label, sample_weight=None, pos_weight=None):
        label = F.reshape_like(label, pred)
        if self._from_sigmoid:
            positive = F.log(pred + _TINY) * label
            if pos_weight is not None:
                positive = F.broadcast_mul(positive, pos_weight)
            loss = -(positive + F.log(1.0 - pred + _TINY) * (1.0 - label))
        elif pos_weight is None:
            loss = F.relu(pred) - pred * label + softplus_of_minus_abs(F, pred)
        else:
            log_weight = 1 + F.broadcast_mul(pos_weight - 1, label)
            softplus_of_minus = softplus_of_minus_abs(F, pred) + F.relu(-pred)
            loss = pred - pred * label + log_weight * softplus_of_minus
        return self._mean(F, self._weighted(F, loss, sample_weight))


SigmoidBCELoss = SigmoidBinaryCrossEntropyLoss


class SoftmaxCrossEntropyLoss(Loss):
    """Cross entropy of a choice among several classes.

    Inputs are `pred`, `label` and optionally `sample_weight`; labels are class indices (the shape
    of `pred` without `axis`) or, if not `sparse_label`, probabilities (the shape of `pred`). The
    output has shape (batch size,).

    Parameters
    ----------
    axis : int
        Axis of the classes.
    sparse_label : bool
        Whether labels are class indices.
    from_logits : bool
        Whether predictions are log-probabilities.
    weight, batch_axis, **kwargs
        See `Loss`.
    """

    def __init__(
        self, axis=-1, sparse_label=True, from_logits=False, weight=None, batch_axis=0, **kwargs
    ):
        super().__init__(weight, batch_axis, **kwargs)
        self._axis = axis
        self._sparse_label = sparse_label
        self._from_logits = from_logits

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        if not self._from_logits:
            pred = F.log_softmax(pred, axis=self._axis)
        if self._sparse_label:
            try:
                loss = -F.pick(pred, label, axis=self._axis, keepdims=True)
            except MXNetError as error:
                hint = "labels that are not class indices need sparse_label=False"
                raise MXNetError(f"{error} ({hint})") from None
        else:
            label = F.reshape_like(label, pred)
            loss = -F.sum(pred * label, axis=self._axis, keepdims=True)
        return self._mean(F, self._weighted(F, loss, sample_weight))


SoftmaxCELoss = SoftmaxCrossEntropyLoss


class KLDivLoss(Loss):
    """Kullback-Leibler divergence of predicted from true probabilities.

    Inputs are `pred` and `label` of one shape, and optionally `sample_weight`. The output has
    shape (batch size,); unlike other losses it is summed, not averaged, over the other axes, except
    under the profile of MXNet 2.

    Parameters
    ----------
    from_logits : bool
        Whether predictions are log-probabilities.
    axis : int
        Axis of the classes.
    weight, batch_axis, **kwargs
        See `Loss`.
    """

    def __init__(self, from_logits=True, axis=-1, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits = from_logits
        self._axis = axis

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        if not self._from_logits:
            pred = F.log_softmax(pred, axis=self._axis)
        loss = self._weighted(F, label * (F.log(label + _TINY) - pred), sample_weight)
        reduce = F.mean if profile.is_mxnet_2() else F.sum
        return reduce(loss, axis=self._batch_axis, exclude=True)


class HingeLoss(Loss):
    """``max(0, margin - pred * label)`` for labels -1 and 1.

    Inputs are `pred` and `label` of one shape, and optionally `sample_weight`. The output has
    shape (batch size,).

    Parameters
    ----------
    margin : float
        The margin.
    weight, batch_axis, **kwargs
        See `Loss`.
    """

    def __init__(self, margin=1, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        loss = F.relu(self._margin - pred * F.reshape_like(label, pred))
        return self._mean(F, self._weighted(F, loss, sample_weight))


class SquaredHingeLoss(Loss):
    """The square of `HingeLoss`.

    Parameters
    ----------
    margin, weight, batch_axis, **kwargs
        See `HingeLoss`.
    """

    def __init__(self, margin=1, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        loss = F.square(F.relu(self._margin - pred * F.reshape_like(label, pred)))
        return self._mean(F, self._weighted(F, loss, sample_weight))


class LogisticLoss(Loss):
    """``log(1 + exp(-pred * label))`` for labels -1 and 1.

    Inputs are `pred` and `label` of one shape, and optionally `sample_weight`. The output has
    shape (batch size,).

    Parameters
    ----------
    weight, batch_axis, **kwargs
        See `Loss`.
    label_format : {'signed', 'binary'}
        Whether labels are -1 and 1, or 0 and 1.

    Raises
    ------
    ValueError
        For another format.
    """

    def __init__(self, weight=None, batch_axis=0, label_format="signed", **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._label_format = label_format
        if label_format not in ("signed", "binary"):
            raise ValueError(f"label_format can only be signed or binary, received {label_format}.")

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        label = F.reshape_like(label, pred)
        if self._label_format == "signed":
            label = (label + 1.0) / 2.0
        loss = F.relu(pred) - pred * label + softplus_of_minus_abs(F, pred)
        return self._mean(F, self._weighted(F, loss, sample_weight))


class PoissonNLLLoss(Loss):
    """Negative log likelihood of counts under a Poisson distribution.

    Inputs are `pred` and `target` of one shape, and optionally `sample_weight` and `epsilon`. The
    output is the mean over all elements, one number; with NumPy arrays switched on it has shape
    (batch size,).

    Parameters
    ----------
    weight, batch_axis, **kwargs
        See `Loss`.
    from_logits : bool
        Whether predictions are logarithms of the rates.
    compute_full : bool
        Add Stirling's approximation of the term that depends only on the target.
    """

    def __init__(self, weight=None, from_logits=True, batch_axis=0, compute_full=False, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits = from_logits
        self._compute_full = compute_full

    def hybrid_forward(self, F, pred, target, sample_weight=None, epsilon=1e-08):
        target = F.reshape_like(target, pred)
        if self._from_logits:
            loss = F.exp(pred) - target * pred
        else:
            loss = pred - target * F.log(pred + epsilon)
        if self._compute_full:
            stirling = target * F.log(target) - target + 0.5 * F.log(2 * target * math.pi)
            loss = loss + F.where(target > 1, stirling, F.zeros_like(target))
        loss = self._weighted(F, loss, sample_weight)
        return self._mean(F, loss) if is_np_array() else F.mean(loss)
