"""Base class of MXNet 2.x metrics, and the metrics that differ from `mx.metric` only in their base.

They keep no global sums and have their own registry, which `create` uses.
"""

import numpy

from mxcy import metric, registry
from mxcy.metric import check_label_shapes

__all__ = [
    "EvalMetric",
    "Accuracy",
    "CompositeEvalMetric",
    "CustomMetric",
    "Loss",
    "PearsonCorrelation",
    "PCC",
    "TopKAccuracy",
    "Torch",
    "alias",
    "check_label_shapes",
    "create",
    "np",
    "one_hot",
    "predict_with_threshold",
    "register",
]


class EvalMetric(metric.EvalMetric):
    """Base class of metrics, see `mx.metric.EvalMetric`."""


register = registry.get_register_func(EvalMetric, "metric")
alias = registry.get_alias_func(EvalMetric, "metric")
_create_one = registry.get_create_func(EvalMetric, "metric")


def create(metric, *args, **kwargs):
    """Create a metric, see `mx.metric.create`.

    Parameters
    ----------
    metric : str, callable, EvalMetric or list
        A registered name, a function ``(label, pred) -> value``, a metric (returned unchanged),
        or a list of these.
    *args, **kwargs
        Arguments of the metric's class.

    Returns
    -------
    EvalMetric
    """
    if isinstance(metric, list):
        return CompositeEvalMetric([create(name, *args, **kwargs) for name in metric])
    if callable(metric) and not isinstance(metric, EvalMetric):
        return CustomMetric(metric, *args, **kwargs)
    return _create_one(metric, *args, **kwargs)


@alias("composite")
@register
class CompositeEvalMetric(metric.CompositeEvalMetric, EvalMetric):
    """Several metrics over the same batches, see `mx.metric.CompositeEvalMetric`."""

    _create = staticmethod(create)


@alias("acc")
@register
class Accuracy(metric.Accuracy, EvalMetric):
    """Fraction of correct predictions, see `mx.metric.Accuracy`."""


@alias("top_k_accuracy", "top_k_acc")
@register
class TopKAccuracy(metric.TopKAccuracy, EvalMetric):
    """Fraction of samples whose class is among the top k scores, see `mx.metric.TopKAccuracy`."""


@register
class PCC(metric.PCC, EvalMetric):
    """Correlation coefficient of a classifier, see `mx.metric.PCC`."""

    def __init__(self, name="pcc", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names, has_global_stats=False)


@alias("pearsonr")
@register
class PearsonCorrelation(metric.PearsonCorrelation, EvalMetric):
    """Pearson's correlation of all predictions and labels, see `mx.metric.PearsonCorrelation`."""

    def __init__(self, name="pearsonr", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names, average="micro")


@register
class CustomMetric(metric.CustomMetric, EvalMetric):
    """A metric computed by a function of NumPy arrays, see `mx.metric.CustomMetric`."""


@register
class Loss(metric.Loss, EvalMetric):
    """The mean of the predictions, see `mx.metric.Loss`."""


@register
class Torch(Loss):
    """`Loss` under another name."""

    def __init__(self, name="torch", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)


def np(numpy_feval, name=None, allow_extra_outputs=False):
    """Make a metric from a function of NumPy arrays, see `mx.metric.np`."""

    def feval(label, pred):
        return numpy_feval(label, pred)

    feval.__name__ = numpy_feval.__name__
    return CustomMetric(feval, name, allow_extra_outputs)


def predict_with_threshold(pred, threshold=0.5):
    """Return which scores exceed a threshold.

    Parameters
    ----------
    pred : array_like
        Scores, of shape (...) or (..., classes).
    threshold : float or array_like
        One threshold, or one per class.

    Returns
    -------
    array of bool
    """
    return pred > threshold


def one_hot(idx, num):
    """Convert class indices to one-hot rows.

    Parameters
    ----------
    idx : numpy.ndarray
        Class indices.
    num : int
        Number of classes.

    Returns
    -------
    numpy.ndarray
        Of shape ``(*idx.shape, num)`` and type int64.
    """
    return (numpy.arange(num) == numpy.asarray(idx)[..., None]).astype("int64")
