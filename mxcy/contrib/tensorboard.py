"""Metrics in the files that TensorBoard shows."""

from mxcy.base import MXNetError

__all__ = ["LogMetricsCallback"]


class LogMetricsCallback:
    """A callback that writes the values of metrics as scalars, one for each epoch.

    Parameters
    ----------
    logging_dir : str
        The folder of event files.
    prefix : str, optional
        What is put in front of the metrics' names, with a dash.

    Raises
    ------
    MXNetError
        When neither mxboard nor tensorboardX nor torch's tensorboard can be imported.
    """

    def __init__(self, logging_dir, prefix=None):
        self.prefix = prefix
        self.summary_writer = _writer_class()(logging_dir)

    def __call__(self, param):
        """Write what a `BatchEndParam` tells of metrics."""
        if param.eval_metric is None:
            return
        for name, value in param.eval_metric.get_name_value():
            name = name if self.prefix is None else f"{self.prefix}-{name}"
            self.summary_writer.add_scalar(name, value, global_step=param.epoch)


def _writer_class():
    """``SummaryWriter`` of the first package that has one; all take the same calls."""
    from importlib import import_module

    for package in ("mxboard", "tensorboardX", "torch.utils.tensorboard"):
        try:
            return import_module(package).SummaryWriter
        except ImportError:
            continue
    raise MXNetError(
        "LogMetricsCallback writes by mxboard or tensorboardX: pip install tensorboardX"
    )
