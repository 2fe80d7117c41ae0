"""The built-in event handlers."""

import math
import time

from mxcy.gluon.contrib.estimator.checkpoints import CheckpointHandler
from mxcy.gluon.contrib.estimator.early_stopping import EarlyStoppingHandler
from mxcy.gluon.contrib.estimator.events import (
    BatchBegin,
    BatchEnd,
    EpochBegin,
    EpochEnd,
    EventHandler,
    TrainBegin,
    TrainEnd,
)
from mxcy.gluon.contrib.estimator.utils import metric_list
from mxcy.metric import Loss

__all__ = [
    "BatchBegin",
    "BatchEnd",
    "CheckpointHandler",
    "EarlyStoppingHandler",
    "EpochBegin",
    "EpochEnd",
    "EventHandler",
    "GradientUpdateHandler",
    "LoggingHandler",
    "MetricHandler",
    "StoppingHandler",
    "TrainBegin",
    "TrainEnd",
    "ValidationHandler",
]


class StoppingHandler(TrainBegin, BatchEnd, EpochEnd):
    """Stop training after a number of epochs or batches.

    Parameters
    ----------
    max_epoch, max_batch : int, optional
        Limits, replaced by the estimator's when training starts.
    """

    def __init__(self, max_epoch=None, max_batch=None):
        self.max_epoch, self.max_batch = max_epoch, max_batch
        self.current_batch = self.current_epoch = 0
        self.stop_training = False

    def train_begin(self, estimator, *args, **kwargs):
        self.max_epoch, self.max_batch = estimator.max_epoch, estimator.max_batch
        self.current_batch = self.current_epoch = 0
        self.stop_training = False

    def batch_end(self, estimator, *args, **kwargs):
        self.current_batch += 1
        self.stop_training |= self.current_batch == self.max_batch
        return self.stop_training

    def epoch_end(self, estimator, *args, **kwargs):
        self.current_epoch += 1
        self.stop_training |= self.current_epoch == self.max_epoch
        return self.stop_training


class MetricHandler(EpochBegin, BatchEnd):
    """Update metrics after each batch, and reset them at each epoch.

    Parameters
    ----------
    metrics : list of EvalMetric
        The metrics.
    priority : number
        Order among the handlers; lower numbers are called first.
    """

    def __init__(self, metrics, priority=-1000):
        self.metrics = metric_list(metrics)
        self.priority = priority

    def epoch_begin(self, estimator, *args, **kwargs):
        for metric in self.metrics:
            metric.reset()

    def batch_end(self, estimator, *args, **kwargs):
        for metric in self.metrics:
            if isinstance(metric, Loss):
                metric.update(0, kwargs["loss"])
            else:
                metric.update(kwargs["label"], kwargs["pred"])


class ValidationHandler(TrainBegin, BatchEnd, EpochEnd):
    """Evaluate the network at regular intervals of epochs or batches.

    Parameters
    ----------
    val_data : DataLoader
        The data.
    eval_fn : callable
        Usually ``estimator.evaluate``, called with `val_data`, `batch_axis`, `event_handlers`.
    epoch_period, batch_period : int, optional
        Interval in epochs and in batches.
    priority : number
        Order among the handlers; lower numbers are called first.
    event_handlers : EventHandler or list of EventHandler, optional
        Handlers for the evaluation.
    """

    def __init__(
        self,
        val_data,
        eval_fn,
        epoch_period=1,
        batch_period=None,
        priority=-1000,
        event_handlers=None,
    ):
        self.val_data, self.eval_fn = val_data, eval_fn
        self.epoch_period, self.batch_period = epoch_period, batch_period
        self.current_batch = self.current_epoch = 0
        self.priority = priority
        self.event_handlers = event_handlers

    def train_begin(self, estimator, *args, **kwargs):
        self.current_batch = self.current_epoch = 0

    def batch_end(self, estimator, *args, **kwargs):
        self.current_batch += 1
        if self.batch_period and self.current_batch % self.batch_period == 0:
            self._evaluate(estimator)

    def epoch_end(self, estimator, *args, **kwargs):
        self.current_epoch += 1
        if self.epoch_period and self.current_epoch % self.epoch_period == 0:
            self._evaluate(estimator)

    def _evaluate(self, estimator):
        self.eval_fn(
            val_data=self.val_data,
            batch_axis=estimator.batch_axis,
            event_handlers=self.event_handlers,
        )


class LoggingHandler(TrainBegin, TrainEnd, EpochBegin, EpochEnd, BatchBegin, BatchEnd):
    """Log the progress of training.

    Parameters
    ----------
    log_interval : int or 'epoch'
        Number of batches between log lines, besides those of epochs.
    metrics : list of EvalMetric, optional
        The metrics to log.
    priority : number
        Order among the handlers; by default last.

    Raises
    ------
    ValueError
        If `log_interval` has another type or value.
    """

    def __init__(self, log_interval="epoch", metrics=None, priority=math.inf):
        if not isinstance(log_interval, int) and log_interval != "epoch":
            raise ValueError(
                f"log_interval must be either an integer or string 'epoch', got {log_interval!r}"
            )
        self.metrics = metric_list(metrics)
        self.priority = priority
        self.log_interval = log_interval
        self._restart()

    def _restart(self):
        self.batch_index = self.current_epoch = self.processed_samples = 0
        self.log_interval_time = 0
        self.train_start = self.epoch_start = self.batch_start = time.time()

    def _values(self):
        return ", ".join("{}: {:.4f}".format(*metric.get()) for metric in self.metrics)

    def train_begin(self, estimator, *args, **kwargs):
        self._restart()
        trainer = estimator.trainer
        estimator.logger.info(
            "Training begin: using optimizer %s with current learning rate %.4f ",
            type(trainer.optimizer).__name__,
            trainer.learning_rate,
        )
        if estimator.max_epoch:
            estimator.logger.info("Train for %d epochs.", estimator.max_epoch)
        else:
            estimator.logger.info("Train for %d batches.", estimator.max_batch)

    def train_end(self, estimator, *args, **kwargs):
        estimator.logger.info(
            "Train finished using total %ds with %d epochs. %s",
            time.time() - self.train_start,
            self.current_epoch,
            self._values(),
        )

    def batch_begin(self, estimator, *args, **kwargs):
        self.batch_start = time.time()

    def batch_end(self, estimator, *args, **kwargs):
        if isinstance(self.log_interval, int):
            self.log_interval_time += time.time() - self.batch_start
            self.processed_samples += kwargs["batch"][0].shape[0]
            if self.batch_index % self.log_interval == 0:
                estimator.logger.info(
                    "[Epoch %d][Batch %d][Samples %s] time/interval: %.3fs %s",
                    self.current_epoch,
                    self.batch_index,
                    self.processed_samples,
                    self.log_interval_time,
                    self._values(),
                )
                self.log_interval_time = 0
        self.batch_index += 1

    def epoch_begin(self, estimator, *args, **kwargs):
        self.epoch_start = time.time()
        if any("training" in metric.name for metric in self.metrics):
            estimator.logger.info(
                "[Epoch %d] Begin, current learning rate: %.4f",
                self.current_epoch,
                estimator.trainer.learning_rate,
            )
        else:
            estimator.logger.info("Validation Begin")

    def epoch_end(self, estimator, *args, **kwargs):
        estimator.logger.info(
            "[Epoch %d] Finished in %.3fs, %s",
            self.current_epoch,
            time.time() - self.epoch_start,
            self._values(),
        )
        self.current_epoch += 1
        self.batch_index = 0


class GradientUpdateHandler(BatchEnd):
    """Call the trainer's `step` after each batch.

    Parameters
    ----------
    priority : number
        Order among the handlers; lower numbers are called first.
    """

    def __init__(self, priority=-2000):
        self.priority = priority

    def batch_end(self, estimator, *args, **kwargs):
        losses = kwargs["loss"]
        losses = losses if isinstance(losses, (list, tuple)) else [losses]
        estimator.trainer.step(sum(loss.shape[0] for loss in losses))
