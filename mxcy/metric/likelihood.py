"""Likelihood metrics of predicted probabilities."""

import math

import numpy

from mxcy.metric.base import EvalMetric, alias, as_numpy, check_label_shapes, register

__all__ = ["CrossEntropy", "NegativeLogLikelihood", "Perplexity"]


class _LogLikelihood(EvalMetric):
    """Mean of ``-log(probability of the true class + eps)``."""

    def __init__(self, eps, name, output_names, label_names):
        super().__init__(name, output_names, label_names, eps=eps, has_global_stats=True)
        self.eps = eps

    def update(self, labels, preds):
        labels, preds = check_label_shapes(labels, preds, wrap=True)
        for label, pred in zip(labels, preds, strict=True):
            label, pred = as_numpy(label).ravel(), as_numpy(pred)
            assert label.shape[0] == pred.shape[0], (
                f"{label.shape[0]} labels for predictions of shape {pred.shape}"
            )
            right = pred[numpy.arange(label.shape[0]), label.astype("int64")]
            self._add(float((-numpy.log(right + self.eps)).sum()), label.shape[0])


@alias("ce")
@register
class CrossEntropy(_LogLikelihood):
    """Cross entropy of predicted probabilities and class indices.

    Parameters
    ----------
    eps : float
        Added to each probability to avoid log(0).
    name, output_names, label_names
        See `EvalMetric`.
    """

    def __init__(self, eps=1e-12, name="cross-entropy", output_names=None, label_names=None):
        super().__init__(eps, name, output_names, label_names)


@alias("nll_loss")
@register
class NegativeLogLikelihood(_LogLikelihood):
    """Negative log likelihood; an alias of `CrossEntropy`.

    Parameters
    ----------
    eps : float
        Added to each probability to avoid log(0).
    name, output_names, label_names
        See `EvalMetric`.
    """

    def __init__(self, eps=1e-12, name="nll-loss", output_names=None, label_names=None):
        super().__init__(eps, name, output_names, label_names)


@register
class Perplexity(EvalMetric):
    """Exponential of the mean cross entropy.

    Parameters
    ----------
    ignore_label : int or None
        Samples of this class are skipped.
    axis : int
        Axis of the classes in predictions.
    name, output_names, label_names
        See `EvalMetric`.
    """

    def __init__(
        self, ignore_label, axis=-1, name="perplexity", output_names=None, label_names=None
    ):
        super().__init__(
            name, output_names, label_names, ignore_label=ignore_label, has_global_stats=True
        )
        self.ignore_label = ignore_label
        self.axis = axis

    def update(self, labels, preds):
        assert len(labels) == len(preds), f"{len(labels)} labels for {len(preds)} predictions"
        total, instances = 0.0, 0
        for label, pred in zip(labels, preds, strict=True):
            label, pred = as_numpy(label), as_numpy(pred)
            assert label.size == pred.size / pred.shape[-1], (
                f"shape mismatch: {label.shape} vs. {pred.shape}"
            )
            pred = numpy.moveaxis(pred, self.axis, -1)
            label = label.astype("int64").ravel()
            nearest = numpy.clip(label, 0, pred.shape[-1] - 1)  # clip invalid labels, like `pick`
            right = pred.reshape(-1, pred.shape[-1])[numpy.arange(label.size), nearest]
            if self.ignore_label is not None:
                right = right[label != self.ignore_label]
            total -= float(numpy.log(numpy.maximum(1e-10, right)).sum())
            instances += right.size
        self._add(total, instances)

    def _value(self, total, instances):
        return math.exp(total / instances) if instances else float("nan")
