"""Metrics in the files that TensorBoard shows."""

from mxcy.callback import LogMetricsCallback

__all__ = ["LogMetricsCallback"]
