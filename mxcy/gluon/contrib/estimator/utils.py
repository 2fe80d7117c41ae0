"""Checks of metrics, and which metric goes with a loss."""

from mxcy.gluon.loss import SoftmaxCrossEntropyLoss
from mxcy.gluon.metric import Accuracy
from mxcy.metric import CompositeEvalMetric, EvalMetric

__all__ = ["check_references", "metric_list", "suggested_metric"]


def metric_list(metrics):
    """Metrics given in any accepted form as a list of simple ones.

    Raises
    ------
    ValueError
        When something else is among them.
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
    """Refuse a handler whose metrics are not the estimator's: nothing would update them.

    Parameters
    ----------
    handler : EventHandler
        Its attributes `metrics` and `monitor` are looked at.
    known : list of EvalMetric
        The estimator's metrics.

    Raises
    ------
    ValueError
        When there is another metric.
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
    """A metric that tells more than the loss, or None."""
    return Accuracy() if isinstance(loss, SoftmaxCrossEntropyLoss) else None
