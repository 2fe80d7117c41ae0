"""Helpers for metrics: checks, and the default metric of a loss."""

from mxcy import profile
from mxcy.gluon.loss import SoftmaxCrossEntropyLoss
from mxcy.gluon.metric import Accuracy
from mxcy.metric import CompositeEvalMetric, EvalMetric

__all__ = [
    "check_references",
    "metric_list",
    "name_of_loss",
    "suggested_metric",
    "traces_any_hybrid_block",
]


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
        Handler, whose attribute `metrics` is checked. A `monitor` of its own need not be the
        estimator's: the handlers that have one warn when it is not updated.
    known : list of EvalMetric
        The estimator's metrics.

    Raises
    ------
    ValueError
        If it has another metric.
    """
    for metric in getattr(handler, "metrics", None) or []:
        if not any(metric is each for each in known):
            raise ValueError(
                f"Event handler {type(handler).__name__} refers to a metric instance {metric} "
                "outside of the known training and validation metrics. Please use the metrics "
                "from estimator.train_metrics and estimator.val_metrics instead."
            )


def suggested_metric(loss):
    """A metric that is more informative than the loss, or None."""
    return Accuracy() if isinstance(loss, SoftmaxCrossEntropyLoss) else None


def name_of_loss(loss):
    """The name of a loss's metric: its class in MXNet 2, the block's name without number before."""
    return type(loss).__name__ if profile.is_mxnet_2() else loss.name.rstrip("0123456789")


def traces_any_hybrid_block():
    """Whether blocks have graphs without `hybridize`: MXNet 1 infers their shapes from these."""
    return not profile.is_mxnet_2()
