"""Helpers for metrics: checks, and the default metric of a loss."""

from mxcy.gluon.loss import SoftmaxCrossEntropyLoss
from mxcy.gluon.metric import Accuracy
from mxcy.metric import CompositeEvalMetric, EvalMetric

__all__ = ["check_references", "metric_list", "suggested_metric"]


def metric_list(metrics):
    """Convert metrics, in any accepted form, to a list of simple metrics.

    Raises
    ------
    ValueError
        If anything else is among them.
    """
    if isinstance(metrics, CompositeEvalMetric):
        return [simple for metric in metrics.metrics for simple in metric_list(metric)]
    if isinstance(metrics, EvalMetric):
        return [metrics]
    metrics = list(metrics or [])
    if not all(isinstance(metric, EvalMetric) for metric in metrics):
        raise ValueError(
            "metrics must be a Metric or a list of Metric, refer to mxcy.metric.EvalMetric: "
            f"{metrics}"
        )
    return metrics


def check_references(handler, known):
    """Check that a handler's metrics are the estimator's; others would never be updated.

    Parameters
    ----------
    handler : EventHandler
        Handler, whose attributes `metrics` and `monitor` are checked.
    known : list of EvalMetric
        The estimator's metrics.

    Raises
    ------
    ValueError
        If it has another metric.
    """
    monitor = getattr(handler, "monitor", None)
    for metric in [*(getattr(handler, "metrics", None) or []), *([monitor] if monitor else [])]:
        if not any(metric is each for each in known):
            raise ValueError(
                f"Event handler {type(handler).__name__} refers to a metric instance {metric} "
                "outside of the known training and validation metrics. Please use the metrics "
                "from estimator.train_metrics and estimator.val_metrics instead."
            )


def suggested_metric(loss):
    """A metric that is more informative than the loss, or None."""
    return Accuracy() if isinstance(loss, SoftmaxCrossEntropyLoss) else None
