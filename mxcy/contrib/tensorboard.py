"""Logging of metrics for TensorBoard."""

from mxcy.callback import LogMetricsCallback

__all__ = ["LogMetricsCallback"]
