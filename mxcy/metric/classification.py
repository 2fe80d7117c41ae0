"""Classification metrics."""

import math

import numpy

from mxcy.metric.base import EvalMetric, alias, as_numpy, check_label_shapes, register

__all__ = ["Accuracy", "TopKAccuracy", "F1", "MCC", "PCC"]


def _classes(label, pred, axis):
    """Convert labels and scores (or classes) to flat int arrays of true and predicted classes."""
    label, pred = as_numpy(label), as_numpy(pred)
    if pred.shape != label.shape:
        pred = pred.argmax(axis=axis)
    label, pred = label.astype("int32").ravel(), pred.astype("int32").ravel()
    check_label_shapes(label, pred)
    return label, pred


@alias("acc")
@register
class Accuracy(EvalMetric):
    """Fraction of correct predictions.

    Parameters
    ----------
    axis : int
        Axis of the classes in predictions; predictions of the labels' shape are taken as classes.
    name, output_names, label_names
        See `EvalMetric`.
    """

    def __init__(self, axis=1, name="accuracy", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names, axis=axis, has_global_stats=True)
        self.axis = axis

    def update(self, labels, preds):
        labels, preds = check_label_shapes(labels, preds, wrap=True)
        for label, pred in zip(labels, preds, strict=True):
            label, pred = _classes(label, pred, self.axis)
            self._add(int((pred == label).sum()), len(pred))


@alias("top_k_accuracy", "top_k_acc")
@register
class TopKAccuracy(EvalMetric):
    """Fraction of samples whose class is among the `top_k` highest scores.

    Parameters
    ----------
    top_k : int
        Number of highest scores, at least 2.
    name, output_names, label_names
        See `EvalMetric`.
    """

    def __init__(self, top_k=1, name="top_k_accuracy", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names, top_k=top_k, has_global_stats=True)
        self.top_k = top_k
        assert self.top_k > 1, "Please use Accuracy if top_k is no more than 1"
        self.name += f"_{self.top_k}"

    def update(self, labels, preds):
        labels, preds = check_label_shapes(labels, preds, wrap=True)
        for label, pred in zip(labels, preds, strict=True):
            assert len(pred.shape) <= 2, "Predictions should be no more than 2 dims"
            label = as_numpy(label).astype("int32")
            scores = as_numpy(pred).astype("float32")  # of equal ones, MXNet's are the best
            order = numpy.argpartition(scores, -self.top_k, axis=-1)
            check_label_shapes(label, order)
            if order.ndim == 1:
                right = (order == label.ravel()).sum()
            else:
                best = order[:, -self.top_k :]
                right = (best == label.ravel()[:, None]).sum()
            self._add(int(right), order.shape[0])


class _BinaryCounts:
    """True and false positives and negatives of binary predictions."""

    def __init__(self):
        self.true_positives = self.false_positives = 0
        self.true_negatives = self.false_negatives = 0

    def add(self, label, pred):
        pred, label = as_numpy(pred), as_numpy(label).astype("int32").ravel()
        pred = pred.argmax(axis=1).ravel()
        check_label_shapes(label, pred)
        if len(numpy.unique(label)) > 2:
            raise ValueError("F1 and MCC currently only support binary classification.")
        pred, label = pred == 1, label == 1
        self.true_positives += int((pred & label).sum())
        self.false_positives += int((pred & ~label).sum())
        self.false_negatives += int((~pred & label).sum())
        self.true_negatives += int((~pred & ~label).sum())

    @property
    def total(self):
        return (
            self.true_positives + self.false_positives + self.true_negatives + self.false_negatives
        )

    def f1(self):
        predicted = self.true_positives + self.false_positives
        there = self.true_positives + self.false_negatives
        precision = self.true_positives / predicted if predicted else 0.0
        recall = self.true_positives / there if there else 0.0
        if precision + recall == 0:
            return 0.0
        return 2 * precision * recall / (precision + recall)

    def matthews(self):
        if not self.total:
            return 0.0
        tp, tn = float(self.true_positives), float(self.true_negatives)
        fp, fn = float(self.false_positives), float(self.false_negatives)
        product = 1.0
        for margin in (tp + fp, tp + fn, tn + fp, tn + fn):
            product *= margin or 1.0
        return (tp * tn - fp * fn) / math.sqrt(product)


class _BinaryScore(EvalMetric):
    """Base of scores of the counts: averaged over batches ('macro'), or of all counts ('micro')."""

    def __init__(self, name, output_names, label_names, average):
        self.average = average
        self._local, self._global = _BinaryCounts(), _BinaryCounts()
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def _score(self, counts):
        raise NotImplementedError

    def update(self, labels, preds):
        labels, preds = check_label_shapes(labels, preds, wrap=True)
        for label, pred in zip(labels, preds, strict=True):
            self._local.add(label, pred)
            self._global.add(label, pred)
        if self.average == "macro":
            self._add(self._score(self._local), 1)
            self._local, self._global = _BinaryCounts(), _BinaryCounts()
            return
        self.num_inst, self.global_num_inst = self._local.total, self._global.total
        self.sum_metric = self._score(self._local) * self.num_inst
        self.global_sum_metric = self._score(self._global) * self.global_num_inst

    def reset(self):
        super().reset()
        self._local, self._global = _BinaryCounts(), _BinaryCounts()

    def reset_local(self):
        super().reset_local()
        self._local = _BinaryCounts()


@register
class F1(_BinaryScore):
    """Harmonic mean of precision and recall of a binary classifier.

    Parameters
    ----------
    name, output_names, label_names
        See `EvalMetric`.
    average : {'macro', 'micro'}
        Average the scores of batches, or compute one score of all samples.
    """

    def __init__(self, name="f1", output_names=None, label_names=None, average="macro"):
        super().__init__(name, output_names, label_names, average)

    def _score(self, counts):
        return counts.f1()


@register
class MCC(_BinaryScore):
    """Matthews correlation coefficient of a binary classifier.

    Parameters
    ----------
    name, output_names, label_names
        See `EvalMetric`.
    average : {'macro', 'micro'}
        Average the scores of batches, or compute one score of all samples.
    """

    def __init__(self, name="mcc", output_names=None, label_names=None, average="macro"):
        super().__init__(name, output_names, label_names, average)

    def _score(self, counts):
        return counts.matthews()


@register
class PCC(EvalMetric):
    """Correlation coefficient of a classifier with any number of classes.

    It equals `MCC` for two classes. The number of classes grows with the data.

    Parameters
    ----------
    name, output_names, label_names
        See `EvalMetric`.
    has_global_stats : bool
        Whether to keep global sums.
    """

    def __init__(self, name="pcc", output_names=None, label_names=None, has_global_stats=True):
        super().__init__(name, output_names, label_names, has_global_stats=has_global_stats)

    def update(self, labels, preds):
        labels, preds = check_label_shapes(labels, preds, wrap=True)
        for label, pred in zip(labels, preds, strict=True):
            label, pred = _classes(label, pred, axis=1)
            classes = int(max(pred.max(), label.max())) + 1
            counted = numpy.zeros((classes, classes))
            numpy.add.at(counted, (pred, label), 1)
            self._confusion = _sum_of_squares(self._confusion, counted)
            self._global_confusion = _sum_of_squares(self._global_confusion, counted)
        self.num_inst += 1
        self.global_num_inst += 1

    @property
    def sum_metric(self):
        """float: the local coefficient times the number of batches."""
        return _correlation(self._confusion) * self.num_inst

    @property
    def global_sum_metric(self):
        """float: the global coefficient times the number of batches."""
        return _correlation(self._global_confusion) * self.global_num_inst

    def reset(self):
        self.global_num_inst = 0
        self._global_confusion = numpy.zeros((2, 2))
        self.reset_local()

    def reset_local(self):
        self.num_inst = 0
        self._confusion = numpy.zeros((2, 2))


def _sum_of_squares(a, b):
    """Add two square matrices, padding the smaller one with zeros."""
    size = max(len(a), len(b))
    total = numpy.zeros((size, size))
    total[: len(a), : len(a)] += a
    total[: len(b), : len(b)] += b
    return total


def _correlation(confusion):
    n = confusion.sum()
    predicted, true = confusion.sum(axis=1), confusion.sum(axis=0)
    spread_predicted = (predicted * (n - predicted)).sum()
    spread_true = (true * (n - true)).sum()
    if not spread_predicted or not spread_true:
        return float("nan")
    common = (confusion.diagonal() * n - predicted * true).sum()
    return float(common / math.sqrt(spread_predicted * spread_true))
