"""Regression, vector and probability metrics of MXNet 2.x."""

import math

import numpy

from mxcy._base.errors import MXNetError
from mxcy.gluon.metric.base import EvalMetric, alias, register
from mxcy.metric import check_label_shapes
from mxcy.metric.base import as_numpy

__all__ = [
    "MAE",
    "MSE",
    "RMSE",
    "MeanPairwiseDistance",
    "MeanCosineSimilarity",
    "CrossEntropy",
    "Perplexity",
]


class _PerInstance(EvalMetric):
    """Base of metrics that average one value per sample."""

    def _values(self, label, pred):
        """One value per sample, from matrices (samples, features)."""
        raise NotImplementedError

    def update(self, labels, preds):
        labels, preds = check_label_shapes(labels, preds, wrap=True)
        for label, pred in zip(labels, preds, strict=True):
            label, pred = self._matrix(label), self._matrix(pred)
            self._add(float(self._values(label, pred).sum()), len(label))

    @staticmethod
    def _matrix(array):
        array = as_numpy(array)
        return array.reshape(len(array), -1)


class _MeanError(EvalMetric):
    """Base of metrics of element-wise errors; labels and predictions broadcast."""

    def _errors(self, difference):
        raise NotImplementedError

    def update(self, labels, preds):
        labels, preds = check_label_shapes(labels, preds, wrap=True)
        for label, pred in zip(labels, preds, strict=True):
            label, pred = as_numpy(label), as_numpy(pred)
            try:
                difference = label - pred
            except ValueError:
                raise MXNetError(
                    f"{type(self).__name__}: labels of shape {label.shape} and predictions of "
                    f"shape {pred.shape} do not broadcast"
                ) from None
            samples = label.shape[0]
            self._add(float(self._errors(difference).mean()) * samples, samples)


@register
class MAE(_MeanError):
    """Mean absolute error.

    Parameters
    ----------
    name, output_names, label_names
        See `EvalMetric`.
    """

    def __init__(self, name="mae", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)

    def _errors(self, difference):
        return numpy.abs(difference)


@register
class MSE(_MeanError):
    """Mean squared error.

    Parameters
    ----------
    name, output_names, label_names
        See `EvalMetric`.
    """

    def __init__(self, name="mse", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)

    def _errors(self, difference):
        return difference**2


@register
class RMSE(MSE):
    """Root mean squared error.

    Parameters
    ----------
    name, output_names, label_names
        See `EvalMetric`.
    """

    def __init__(self, name="rmse", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)

    def _value(self, total, instances):
        return math.sqrt(super()._value(total, instances))


@register
class MeanPairwiseDistance(_PerInstance):
    """Mean distance between predicted and true vectors.

    Parameters
    ----------
    name, output_names, label_names
        See `EvalMetric`.
    p : float
        Order of the norm.
    """

    def __init__(self, name="mpd", output_names=None, label_names=None, p=2):
        super().__init__(name, output_names, label_names)
        self.p = p

    def _values(self, label, pred):
        return (numpy.abs(label - pred) ** self.p).sum(axis=1) ** (1.0 / self.p)


@register
class MeanCosineSimilarity(_PerInstance):
    """Mean cosine similarity of predicted and true vectors.

    Parameters
    ----------
    name, output_names, label_names
        See `EvalMetric`.
    eps : float
        Lower bound of the product of the norms.
    """

    def __init__(self, name="cos_sim", output_names=None, label_names=None, eps=1e-8):
        super().__init__(name, output_names, label_names)
        self.eps = eps

    @staticmethod
    def _matrix(array):
        array = as_numpy(array)
        return array.reshape(-1, array.shape[-1])

    def _values(self, label, pred):
        norms = numpy.linalg.norm(label, axis=1) * numpy.linalg.norm(pred, axis=1)
        return (label * pred).sum(axis=1) / numpy.maximum(norms, self.eps)


@alias("ce")
@register
class CrossEntropy(EvalMetric):
    """Cross entropy of predictions and class indices.

    Parameters
    ----------
    eps : float
        Smaller probabilities count as `eps`, to avoid log(0).
    ignore_label : int, optional
        Samples of this class are skipped.
    axis : int
        Axis of the classes in predictions.
    from_logits : bool
        Whether predictions are logits.
    name, output_names, label_names
        See `EvalMetric`.
    """

    def __init__(
        self,
        eps=1e-12,
        ignore_label=None,
        axis=-1,
        from_logits=False,
        name="cross-entropy",
        output_names=None,
        label_names=None,
    ):
        super().__init__(name, output_names, label_names, eps=eps, ignore_label=ignore_label)
        self.eps = eps
        self.ignore_label = ignore_label
        self.axis = axis
        self.from_logits = from_logits

    def update(self, labels, preds):
        labels, preds = check_label_shapes(labels, preds, wrap=True)
        for label, pred in zip(labels, preds, strict=True):
            label, pred = as_numpy(label), as_numpy(pred)
            assert label.size == pred.size // pred.shape[self.axis], (
                f"shape mismatch: {label.shape} vs. {pred.shape}"
            )
            pred = numpy.moveaxis(pred, self.axis, -1)
            pred = pred.reshape(-1, pred.shape[-1])
            label = label.astype("int64").ravel()
            if self.from_logits:
                pred = numpy.exp(pred - pred.max(axis=1, keepdims=True))
                pred /= pred.sum(axis=1, keepdims=True)
            right = pred[numpy.arange(label.size), label]
            if self.ignore_label is not None:
                right = right[label != self.ignore_label]
            self._add(float(-numpy.log(numpy.maximum(right, self.eps)).sum()), right.size)


@register
class Perplexity(CrossEntropy):
    """Exponential of the cross entropy.

    Parameters
    ----------
    eps, ignore_label, axis, from_logits, name, output_names, label_names
        See `CrossEntropy`.
    """

    def __init__(
        self,
        eps=1e-12,
        ignore_label=None,
        axis=-1,
        from_logits=False,
        name="perplexity",
        output_names=None,
        label_names=None,
    ):
        super().__init__(eps, ignore_label, axis, from_logits, name, output_names, label_names)

    def _value(self, total, instances):
        return math.exp(super()._value(total, instances))
