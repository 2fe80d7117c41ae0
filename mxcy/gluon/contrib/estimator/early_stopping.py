"""Early stopping: end training when a metric stops improving."""

import math
import warnings

from mxcy.gluon.contrib.estimator.events import EpochEnd, TrainBegin, TrainEnd
from mxcy.gluon.contrib.estimator.improvement import Improvement, Monitoring
from mxcy.metric import CompositeEvalMetric, EvalMetric

__all__ = ["EarlyStoppingHandler"]


class EarlyStoppingHandler(Monitoring, TrainBegin, EpochEnd, TrainEnd):
    """Stop training when a metric no longer improves.

    Parameters
    ----------
    monitor : EvalMetric
        Metric of the estimator.
    min_delta : float
        Minimum change that counts as an improvement.
    patience : int
        Number of epochs without improvement after which training stops.
    mode : {'auto', 'min', 'max'}
        Whether to minimize or maximize the metric; 'auto' decides by its name.
    baseline : float, optional
        Initial best value, which the first epochs must improve on.

    Raises
    ------
    ValueError
        If `monitor` is not a simple metric.
    """

    def __init__(self, monitor, min_delta=0, patience=0, mode="auto", baseline=None):
        if not isinstance(monitor, EvalMetric) or isinstance(monitor, CompositeEvalMetric):
            raise ValueError(
                "monitor must be one simple metric of estimator.train_metrics or "
                f"estimator.val_metrics, got {monitor}"
            )
        self.monitor = monitor
        self.baseline, self.patience, self.min_delta = baseline, patience, min_delta
        self._improvement = Improvement(monitor, mode, "EarlyStopping")
        self._restart()

    def _restart(self):
        self.wait = self.stopped_epoch = self.current_epoch = 0
        self.stop_training = False
        self._improvement.reset(self.baseline)

    def train_begin(self, estimator, *args, **kwargs):
        self._restart()

    def epoch_end(self, estimator, *args, **kwargs):
        name, value = self.monitor.get()
        if math.isnan(value):
            warnings.warn(
                f"{name} is not updated, make sure you pass one of the metric objects from "
                "estimator.train_metrics and estimator.val_metrics as monitor.",
                RuntimeWarning,
                stacklevel=2,
            )
        elif self._improvement.update(value, self.min_delta):
            self.wait = 0
        else:
            self.wait += 1
            if self.wait >= self.patience:
                self.stopped_epoch = self.current_epoch
                self.stop_training = True
        self.current_epoch += 1
        return self.stop_training

    def train_end(self, estimator, *args, **kwargs):
        if self.stop_training:
            estimator.logger.info(
                "[Epoch %d] EarlyStoppingHandler: early stopping due to %s not improving",
                self.stopped_epoch,
                self.monitor.get()[0],
            )
