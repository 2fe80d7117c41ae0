"""Training callbacks for logging and checkpoints.

Batch-end callbacks take a `BatchEndParam`; epoch-end callbacks take
``(epoch, symbol, arg_params, aux_params)``.
"""

import logging
import math
import time
from collections import namedtuple
from importlib import import_module

from mxcy._base.listing import listing
from mxcy._base.suggestions import module_getattr
from mxcy._files.checkpoint import save_checkpoint
from mxcy.base import MXNetError

__all__ = [
    "BatchEndParam",
    "LogMetricsCallback",
    "LogValidationMetricsCallback",
    "ProgressBar",
    "Speedometer",
    "do_checkpoint",
    "log_train_metric",
    "module_checkpoint",
]

__getattr__ = module_getattr(__name__)
__dir__ = listing(__name__)

#: Argument of batch-end callbacks: epoch and batch number, metric, and the local variables of the
#: training loop.
BatchEndParam = namedtuple("BatchEndParams", ["epoch", "nbatch", "eval_metric", "locals"])


def module_checkpoint(mod, prefix, period=1, save_optimizer_states=False):
    """Create an epoch-end callback that saves a module's checkpoint.

    Parameters
    ----------
    mod : BaseModule
        The module.
    prefix : str
        Prefix of the file names.
    period : int
        Interval between checkpoints, in epochs.
    save_optimizer_states : bool
        Also save the optimizer's states.

    Returns
    -------
    callable
    """
    period = max(1, int(period))

    def callback(epoch, symbol=None, arg_params=None, aux_params=None):
        if (epoch + 1) % period == 0:
            mod.save_checkpoint(prefix, epoch + 1, save_optimizer_states)

    return callback


def do_checkpoint(prefix, period=1):
    """Create an epoch-end callback that saves symbol and parameters.

    Parameters
    ----------
    prefix : str
        Prefix of the file names.
    period : int
        Interval between checkpoints, in epochs.

    Returns
    -------
    callable
    """
    period = max(1, int(period))

    def callback(epoch, symbol, arg_params, aux_params):
        if (epoch + 1) % period == 0:
            save_checkpoint(prefix, epoch + 1, symbol, arg_params, aux_params)

    return callback


def log_train_metric(period, auto_reset=False):
    """Create a batch-end callback that logs the training metric.

    Parameters
    ----------
    period : int
        Interval between log messages, in batches.
    auto_reset : bool
        Reset the metric's local sums after each message.

    Returns
    -------
    callable
    """

    def callback(param):
        if param.nbatch % period == 0 and param.eval_metric is not None:
            for name, value in param.eval_metric.get_name_value():
                logging.info(
                    "Iter[%d] Batch[%d] Train-%s=%f", param.epoch, param.nbatch, name, value
                )
            if auto_reset:
                param.eval_metric.reset_local()

    return callback


class Speedometer:
    """Batch-end callback that logs the training speed and the metric.

    Parameters
    ----------
    batch_size : int
        Samples per batch.
    frequent : int
        Interval between log messages, in batches.
    auto_reset : bool
        Reset the metric's local sums after each message.
    """

    def __init__(self, batch_size, frequent=50, auto_reset=True):
        self.batch_size = batch_size
        self.frequent = frequent
        self.auto_reset = auto_reset
        self.init = False
        self.tic = 0.0
        self.last_count = 0

    def __call__(self, param):
        """Count a batch, and log at the interval.

        Parameters
        ----------
        param : BatchEndParam
            State of the training loop.
        """
        count = param.nbatch
        if self.last_count > count:  # a new epoch
            self.init = False
        self.last_count = count
        if not self.init:
            self.init = True
            self.tic = time.time()
            return
        if count % self.frequent != 0:
            return
        seconds = time.time() - self.tic
        speed = self.frequent * self.batch_size / seconds if seconds > 0 else float("inf")
        if param.eval_metric is None:
            logging.info("Iter[%d] Batch [%d]\tSpeed: %.2f samples/sec", param.epoch, count, speed)
        else:
            if self.auto_reset:
                begin = count - self.frequent
                pairs = param.eval_metric.get_name_value()
                param.eval_metric.reset_local()
            else:
                begin = 0
                pairs = param.eval_metric.get_global_name_value()
            message = "Epoch[%d] Batch [%d-%d]\tSpeed: %.2f samples/sec" + "\t%s=%f" * len(pairs)
            flat = [item for pair in pairs for item in pair]
            logging.info(message, param.epoch, begin, count, speed, *flat)
        self.tic = time.time()


class ProgressBar:
    """Batch-end callback that logs a progress bar of the epoch.

    Parameters
    ----------
    total : int
        Batches per epoch.
    length : int
        Length of the full bar in characters.
    """

    def __init__(self, total, length=80):
        self.bar_len = length
        self.total = total

    def __call__(self, param):
        """Log the progress.

        Parameters
        ----------
        param : BatchEndParam
            State of the training loop.
        """
        done = param.nbatch / self.total
        filled = round(self.bar_len * done)
        bar = "=" * filled + "-" * (self.bar_len - filled)
        logging.info("[%s] %d%%\r", bar, math.ceil(100 * done))


class LogValidationMetricsCallback:
    """Callback that logs the metric at the end of an evaluation."""

    def __call__(self, param):
        """Log the metric.

        Parameters
        ----------
        param : BatchEndParam
            State of the evaluation.
        """
        if not param.eval_metric:
            return
        for name, value in param.eval_metric.get_name_value():
            logging.info("Epoch[%d] Validation-%s=%f", param.epoch, name, value)


class LogMetricsCallback:
    """Callback that writes metrics to TensorBoard event files, one point per epoch.

    Parameters
    ----------
    logging_dir : str
        Folder of the event files.
    prefix : str, optional
        Prefix of the metrics' names, followed by a dash.

    Attributes
    ----------
    summary_writer : object
        The writer, for further scalars; its `close` flushes.

    Raises
    ------
    MXNetError
        If none of mxboard, tensorboardX and torch's tensorboard can be imported.
    """

    def __init__(self, logging_dir, prefix=None):
        self.prefix = prefix
        self.summary_writer = _writer_class()(logging_dir)

    def __call__(self, param):
        """Write the metrics of a `BatchEndParam`."""
        if param.eval_metric is None:
            return
        for name, value in param.eval_metric.get_name_value():
            name = name if self.prefix is None else f"{self.prefix}-{name}"
            self.summary_writer.add_scalar(name, value, global_step=param.epoch)


def _writer_class():
    """``SummaryWriter`` of the first available package; all have the same interface."""
    for package in ("mxboard", "tensorboardX", "torch.utils.tensorboard"):
        try:
            return import_module(package).SummaryWriter
        except ImportError:
            continue
    raise MXNetError("LogMetricsCallback needs tensorboardX: pip install 'mxcy[tensorboard]'")
