"""Embedding losses, which pull matching pairs together and push others apart."""

from mxcy.gluon.loss.base import Loss
from mxcy.gluon.loss.classification import KLDivLoss
from mxcy.util import is_np_array

__all__ = ["TripletLoss", "CosineEmbeddingLoss", "SDMLLoss"]


class TripletLoss(Loss):
    """Penalizes a `positive` that is not closer to `pred` than `negative` by a margin.

    Inputs are `pred`, `positive` and `negative` of one shape, and optionally `sample_weight`. The
    output has shape (batch size,).

    Parameters
    ----------
    margin : float
        Margin between the squared distances.
    weight, batch_axis, **kwargs
        See `Loss`.
    """

    def __init__(self, margin=1, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F, pred, positive, negative, sample_weight=None):
        near = F.square(F.reshape_like(positive, pred) - pred)
        far = F.square(F.reshape_like(negative, pred) - pred)
        loss = F.sum(near - far, axis=self._batch_axis, exclude=True)
        return self._weighted(F, F.relu(loss + self._margin), sample_weight)


class CosineEmbeddingLoss(Loss):
    """Pulls pairs with label 1 towards the same direction, and pairs with label -1 apart.

    Inputs are `input1` and `input2` of shape (batch size, n), `label` of shape (batch size,) and
    optionally `sample_weight`. The output has shape (batch size, 1), with NumPy arrays switched
    on (batch size,).

    Parameters
    ----------
    weight, batch_axis, **kwargs
        See `Loss`.
    margin : float
        For label -1, cosines up to this have zero loss.
    """

    def __init__(self, weight=None, batch_axis=0, margin=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F, input1, input2, label, sample_weight=None):
        input1 = F.reshape_like(input1, input2)
        cosine = _cosine(F, input1, input2)
        label = F.reshape_like(label, cosine)
        loss = (1 - cosine) * (label == 1) + F.relu(cosine - self._margin) * (label == -1)
        loss = self._weighted(F, loss, sample_weight)
        return self._mean(F, loss) if is_np_array() else loss


def _cosine(F, x, y):
    """Cosine similarity of rows, of shape (rows, 1)."""
    product = F.sum(x * y, axis=-1, keepdims=True)
    norms = F.norm(x, axis=-1, keepdims=True) * F.norm(y, axis=-1, keepdims=True)
    return F.reshape(product / F.maximum(norms, 1e-12), shape=(-1, 1))


class SDMLLoss(Loss):
    """Smoothed deep metric learning (Bonadiman et al., 2019).

    Inputs are `x1` and `x2` of shape (batch size, n); rows with the same index match, all
    others do not. The output has shape (batch size,).

    Parameters
    ----------
    smoothing_parameter : float
        Probability mass of the rows that do not match.
    weight, batch_axis, **kwargs
        See `Loss`.
    """

    def __init__(self, smoothing_parameter=0.3, weight=1.0, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self.kl_loss = KLDivLoss(from_logits=True)
        self.smoothing_parameter = smoothing_parameter

    def hybrid_forward(self, F, x1, x2):
        size = x1.shape[0]
        differences = F.broadcast_sub(F.expand_dims(x1, axis=1), F.expand_dims(x2, axis=0))
        distances = F.sum(F.square(differences), axis=2)
        same = F.one_hot(F.arange(size), depth=size)
        elsewhere = self.smoothing_parameter / (size - 1)
        labels = same * (1 - self.smoothing_parameter) + (1 - same) * elsewhere
        log_probabilities = F.log_softmax(-distances, axis=1)
        return self.kl_loss(log_probabilities, labels)
