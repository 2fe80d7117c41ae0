"""Saving checkpoints during training, and resuming from them."""

import math
import re
from pathlib import Path

from mxcy._base.warning import warn
from mxcy.gluon.block import HybridBlock
from mxcy.gluon.contrib.estimator.events import BatchEnd, EpochEnd, TrainBegin
from mxcy.gluon.contrib.estimator.improvement import Improvement, Monitoring
from mxcy.gluon.contrib.estimator.utils import traces_any_hybrid_block
from mxcy.metric import CompositeEvalMetric, EvalMetric

__all__ = ["CheckpointHandler"]


class CheckpointHandler(Monitoring, TrainBegin, BatchEnd, EpochEnd):
    """Save parameters and trainer states at regular intervals of epochs or batches.

    The files are ``PREFIX-epochEbatchB.params`` and ``.states``, ``PREFIX-best.params`` and
    ``.states``, and ``PREFIX-symbol.json`` for hybridized networks (for any HybridBlock, with
    the profile of MXNet 1.9).

    Parameters
    ----------
    model_dir : str
        Folder, created if needed.
    model_prefix : str
        Prefix of the file names.
    monitor : EvalMetric, optional
        Metric of the estimator that determines the best checkpoint.
    verbose : int
        If above 0, log what is saved.
    save_best : bool
        Also keep the best parameters.
    mode : {'auto', 'min', 'max'}
        Whether to minimize or maximize the metric; 'auto' decides by its name.
    epoch_period, batch_period : int, optional
        Interval between checkpoints, in epochs and in batches.
    max_checkpoints : int
        Number of checkpoints kept besides the best one; older ones are deleted.
    resume_from_checkpoint : bool
        Resume from the latest checkpoint in the folder; its epochs or batches count towards
        those of ``fit``.

    Raises
    ------
    ValueError
        If `save_best` is set without a simple metric.
    """

    def __init__(
        self,
        model_dir,
        model_prefix="model",
        monitor=None,
        verbose=0,
        save_best=False,
        mode="auto",
        epoch_period=1,
        batch_period=None,
        max_checkpoints=5,
        resume_from_checkpoint=False,
    ):
        if save_best and (
            not isinstance(monitor, EvalMetric) or isinstance(monitor, CompositeEvalMetric)
        ):
            raise ValueError(
                "To save best model only, monitor must be one simple metric of "
                f"estimator.train_metrics or estimator.val_metrics, got {monitor}"
            )
        self.model_dir, self.model_prefix = model_dir, model_prefix
        self._folder = Path(model_dir)
        self._folder.mkdir(parents=True, exist_ok=True)
        self.monitor, self.verbose, self.save_best = monitor, verbose, save_best
        self.epoch_period, self.batch_period = epoch_period, batch_period
        self.max_checkpoints = max_checkpoints
        self.resume_from_checkpoint = resume_from_checkpoint
        self._improvement = Improvement(monitor, mode, "ModelCheckpoint") if save_best else None
        self.saved_checkpoints = []
        self.current_batch = self.current_epoch = 0
        self.trained_epoch = self.trained_batch = -1

    def train_begin(self, estimator, *args, **kwargs):
        self.current_batch = self.current_epoch = 0
        if self.save_best:
            self._improvement.reset()
        if self.resume_from_checkpoint:
            period, other = self.epoch_period, self.batch_period
            if estimator.max_batch:
                period, other = other, period
            assert period and not other, (
                "To use resume from checkpoint, you must only specify the same type of period you "
                "used for training. For example, if you are training based on number of epochs, "
                "you must save only based on epochs, and set batch_period to None."
            )
            self._resume(estimator)

    def batch_end(self, estimator, *args, **kwargs):
        if self.current_batch == 0:
            self._save_symbol(estimator, kwargs.get("batch"))
        if self.batch_period and (self.current_batch + 1) % self.batch_period == 0:
            self._save(estimator)
        self.current_batch += 1

    def epoch_end(self, estimator, *args, **kwargs):
        if self.epoch_period and (self.current_epoch + 1) % self.epoch_period == 0:
            self._save(estimator)
        self.current_epoch += 1

    # -- saving -----------------------------------------------------------------------------------

    def _save_symbol(self, estimator, batch):
        path = self._folder / f"{self.model_prefix}-symbol.json"
        net = estimator.net
        trace = net._only_trace() if isinstance(net, HybridBlock) else None
        if trace is None and isinstance(net, HybridBlock) and traces_any_hybrid_block() and batch:
            get_data = estimator.batch_processor._get_data_and_label
            trace = net._traced_for(get_data(batch, estimator.context)[0][:1])[0]
        if trace is not None:
            trace.symbol.save(str(path))
        else:
            estimator.logger.info(
                "Model architecture(symbol file) is not saved, please use HybridBlock to construct "
                "your model, and call net.hybridize() before passing to Estimator in order to save "
                "model architecture as %s.",
                path,
            )

    def _save(self, estimator):
        epoch, batch = self.current_epoch, self.current_batch
        if self.resume_from_checkpoint:  # count from the start of the first run
            epoch += self.trained_epoch + 1
            batch += self.trained_batch + (0 if estimator.max_epoch else 1)
        name = f"{self.model_prefix}-epoch{epoch}batch{batch}"
        self._save_files(estimator, name)
        self.saved_checkpoints.append(name)
        while len(self.saved_checkpoints) > self.max_checkpoints:
            self._delete(self.saved_checkpoints.pop(0))
        self._log(
            estimator,
            f"trained total {self.current_batch + 1} batches, saving model at {self.model_dir} "
            f"with prefix: {name}",
        )
        if self.save_best:
            self._save_if_best(estimator)

    def _save_if_best(self, estimator):
        name, value = self.monitor.get()
        before = self._improvement.best
        if math.isnan(value):
            warn(
                f"Skipping save best because {name} is not updated, make sure you pass one of the "
                "metric objects estimator.train_metrics and estimator.val_metrics as monitor",
                RuntimeWarning,
            )
        elif self._improvement.update(value):
            best = f"{self.model_prefix}-best"
            self._save_files(estimator, best)
            self._log(
                estimator,
                f"{name} improved from {before:.5f} to {value:.5f}, updating best model at "
                f"{self.model_dir} with prefix: {best}",
            )
        else:
            self._log(
                estimator, f"{name} did not improve from {before:.5f}, skipping updating best model"
            )

    def _log(self, estimator, text):
        if self.verbose > 0:
            estimator.logger.info("[Epoch %d] CheckpointHandler: %s", self.current_epoch, text)

    def _save_files(self, estimator, name):
        estimator.net.save_parameters(str(self._folder / f"{name}.params"))
        estimator.trainer.save_states(str(self._folder / f"{name}.states"))

    def _delete(self, name):
        for ending in ("params", "states"):
            (self._folder / f"{name}.{ending}").unlink(missing_ok=True)

    # -- resuming ---------------------------------------------------------------------------------

    def _found(self):
        """(epoch, batch) of the checkpoints in the folder, in order."""
        pattern = re.compile(re.escape(self.model_prefix) + r"-epoch(\d+)batch(\d+)\.params")
        matches = map(pattern.fullmatch, (path.name for path in self._folder.iterdir()))
        return sorted(tuple(map(int, match.groups())) for match in matches if match)

    def _resume(self, estimator):
        checkpoints = self._found()
        kind, wanted = (
            ("epoch", estimator.max_epoch)
            if estimator.max_epoch
            else ("batch", estimator.max_batch)
        )
        if not checkpoints:
            self.trained_epoch = self.trained_batch = -1
            estimator.logger.info(
                "CheckpointHandler: No checkpoint found, training from scratch for %d %ss",
                wanted,
                kind,
            )
            return
        self.saved_checkpoints = [
            f"{self.model_prefix}-epoch{epoch}batch{batch}" for epoch, batch in checkpoints
        ]
        self.trained_epoch, self.trained_batch = checkpoints[-1]
        done = 1 + (self.trained_epoch if estimator.max_epoch else self.trained_batch)
        if done >= wanted:
            raise ValueError(
                f"Found checkpoint with maximum number of {kind} {wanted} reached, please specify "
                "resume_from_checkpoint=False (default value) if you want to train from scratch."
            )
        setattr(estimator, f"max_{kind}", wanted - done)
        latest = self._folder / self.saved_checkpoints[-1]
        estimator.net.load_parameters(f"{latest}.params", ctx=estimator.context)
        estimator.trainer.load_states(f"{latest}.states")
        estimator.logger.warning(
            "CheckpointHandler: Checkpoint resumed from epoch %d batch %d, continue to train for "
            "%d %ss",
            self.trained_epoch,
            self.trained_batch,
            wanted - done,
            kind,
        )
