"""Classification metrics of MXNet 2.x."""

import numpy

from mxcy.gluon.metric.base import EvalMetric, one_hot, predict_with_threshold, register
from mxcy.metric import MCC as _MCC
from mxcy.metric import check_label_shapes
from mxcy.metric.base import as_numpy

__all__ = ["BinaryAccuracy", "F1", "Fbeta", "MCC"]

_CLASS_TYPES = ("binary", "multiclass", "multilabel")


@register
class BinaryAccuracy(EvalMetric):
    """Accuracy of binary decisions.

    Parameters
    ----------
    name, output_names, label_names
        See `EvalMetric`.
    threshold : float or array_like
        Scores above it are positive.
    """

    def __init__(self, name="binary_accuracy", output_names=None, label_names=None, threshold=0.5):
        self.threshold = threshold
        super().__init__(name, output_names, label_names)

    def update(self, labels, preds):
        labels, preds = check_label_shapes(labels, preds, wrap=True)
        for label, pred in zip(labels, preds, strict=True):
            decision = predict_with_threshold(as_numpy(pred), self.threshold).ravel()
            label = as_numpy(label).astype("int32").ravel()
            check_label_shapes(label, decision)
            self._add(int((decision == label).sum()), len(decision))


@register
class Fbeta(EvalMetric):
    """Weighted harmonic mean of precision and recall.

    Parameters
    ----------
    name, output_names, label_names
        See `EvalMetric`.
    class_type : {'binary', 'multiclass', 'multilabel'}
        Two classes; several classes; several binary decisions per sample.
    beta : float
        Weight of recall relative to precision.
    threshold : float
        Scores above it are positive. For two classes, predictions are the scores of the positive
        class, or of both in the last axis.
    average : {'micro', 'macro', None}
        Pool all classes, average over classes, or return one value per class.
    """

    def __init__(
        self,
        name="fbeta",
        output_names=None,
        label_names=None,
        class_type="binary",
        beta=1,
        threshold=0.5,
        average="micro",
    ):
        self.beta = beta
        self.class_type = class_type
        self.threshold = threshold
        self.average = average
        super().__init__(name, output_names, label_names)

    def reset(self):
        super().reset()
        self._hits = self._predicted = self._true = 0.0

    def reset_local(self):
        self.reset()

    def update(self, labels, preds):
        labels, preds = check_label_shapes(labels, preds, wrap=True)
        for label, pred in zip(labels, preds, strict=True):
            label, pred = as_numpy(label).astype("int64"), as_numpy(pred)
            true, predicted = self._decisions(label, pred)
            self._hits = self._hits + (true & predicted).sum(axis=0)
            self._predicted = self._predicted + predicted.sum(axis=0)
            self._true = self._true + true.sum(axis=0)
            self.num_inst += len(true) if self.class_type == "multilabel" else label.size
        if self.num_inst:
            self.sum_metric = self._score() * self.num_inst

    def _decisions(self, label, pred):
        """Bool matrices (samples, classes) of the labels and of the predictions."""
        if self.class_type == "multiclass":
            return one_hot(label.ravel(), pred.shape[-1]) > 0, one_hot(
                pred.argmax(axis=-1).ravel(), pred.shape[-1]
            ) > 0
        if self.class_type == "multilabel":
            if label.ndim == 1:  # one sample
                label, pred = label[None], pred[None]
            return label > 0, predict_with_threshold(pred, self.threshold)
        if self.class_type != "binary":
            raise ValueError(
                f"Wrong class_type {self.class_type}! Only supports {list(_CLASS_TYPES)}"
            )
        return _binary_decisions(label, pred, self.threshold)

    def get(self):
        return (self.name, self._score() if self.num_inst else float("nan"))

    def _score(self):
        hits, predicted, true = self._hits, self._predicted, self._true
        if self.average == "micro":
            hits, predicted, true = hits.sum(), predicted.sum(), true.sum()
        weight = self.beta**2
        with numpy.errstate(divide="ignore", invalid="ignore"):
            score = (1 + weight) * hits / (predicted + weight * true)
        score = numpy.nan_to_num(score)
        return score if self.average is None else float(score.mean())


@register
class F1(Fbeta):
    """Harmonic mean of precision and recall.

    Parameters
    ----------
    name, output_names, label_names, class_type, threshold, average
        See `Fbeta`.
    """

    def __init__(
        self,
        name="f1",
        output_names=None,
        label_names=None,
        class_type="binary",
        threshold=0.5,
        average="micro",
    ):
        super().__init__(name, output_names, label_names, class_type, 1, threshold, average)


@register
class MCC(_MCC, EvalMetric):
    """Matthews correlation coefficient over all samples.

    Parameters
    ----------
    name, output_names, label_names
        See `EvalMetric`.
    """

    def __init__(self, name="mcc", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names, average="micro")

    def update(self, labels, preds):
        labels, preds = check_label_shapes(labels, preds, wrap=True)
        scores = []
        for label, pred in zip(labels, preds, strict=True):
            label, pred = as_numpy(label).astype("int64"), as_numpy(pred)
            _, decided = _binary_decisions(label, pred, 0.5)
            scores.append(one_hot(decided.ravel().astype("int64"), 2))
        super().update(labels, scores)


def _binary_decisions(label, pred, threshold):
    """Columns of bool for the labels and for the predictions of the positive class."""
    if label.min() < 0 or label.max() > 1:
        raise ValueError("Wrong label for binary classification.")
    if pred.size != label.size:
        if pred.shape[-1] != 2:
            raise ValueError(
                f"predictions of shape {pred.shape} are neither scores of the positive class for "
                f"labels of shape {label.shape} nor of two classes in the last axis"
            )
        pred = pred[..., 1]
    return label.reshape(-1, 1) > 0, predict_with_threshold(pred, threshold).reshape(-1, 1)
