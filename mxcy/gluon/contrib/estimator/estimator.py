"""Training and evaluation of networks."""

import copy
import functools
import logging
import sys

from mxcy import metric
from mxcy._base.warning import warn
from mxcy.context import Context, cpu
from mxcy.gluon.block import Block
from mxcy.gluon.contrib.estimator.batch_processor import BatchProcessor
from mxcy.gluon.contrib.estimator.event_handler import (
    BatchBegin,
    BatchEnd,
    EpochBegin,
    EpochEnd,
    EventHandler,
    GradientUpdateHandler,
    LoggingHandler,
    MetricHandler,
    StoppingHandler,
    TrainBegin,
    TrainEnd,
    ValidationHandler,
)
from mxcy.gluon.contrib.estimator.utils import (
    check_references,
    metric_list,
    name_of_loss,
    suggested_metric,
)
from mxcy.gluon.data import DataLoader
from mxcy.gluon.loss import Loss
from mxcy.gluon.trainer import Trainer

__all__ = ["Estimator"]

#: event -> class of its handlers
_EVENTS = {
    "train_begin": TrainBegin,
    "epoch_begin": EpochBegin,
    "batch_begin": BatchBegin,
    "batch_end": BatchEnd,
    "epoch_end": EpochEnd,
    "train_end": TrainEnd,
}


class Estimator:
    """Trains and evaluates a network.

    Parameters
    ----------
    net : Block
        The network.
    loss : Loss
        The loss to minimize.
    train_metrics, val_metrics : EvalMetric or list of EvalMetric, optional
        Metrics of training and validation; by default the loss and, for classifiers, the
        accuracy. Their names are prefixed with "training " and "validation ".
    initializer : Initializer, optional
        Initializer for parameters that are not initialized yet.
    trainer : Trainer, optional
        Defaults to SGD with a learning rate of 0.001.
    context : Context or list of Context, optional
        Contexts for training, by default the CPU.
    val_net, val_loss : optional
        Network and loss for validation; the network usually shares parameters with `net`.
    batch_processor : BatchProcessor, optional
        Computation on a batch.
    device : Context or list of Context, optional
        Alias of `context`.

    Attributes
    ----------
    logger : logging.Logger
        Logger of the handlers, to standard output.

    Raises
    ------
    ValueError
        If an argument has the wrong type.
    """

    logger = None

    def __init__(
        self,
        net,
        loss,
        train_metrics=None,
        val_metrics=None,
        initializer=None,
        trainer=None,
        context=None,
        val_net=None,
        val_loss=None,
        batch_processor=None,
        *,
        device=None,
    ):
        if not isinstance(net, Block):
            raise ValueError(f"net must be a Block, refer to gluon.Block: {net}")
        self.net = net
        self.loss = _checked_loss(loss)
        self.val_net = net if val_net is None else val_net
        self.val_loss = self.loss if val_loss is None else _checked_loss(val_loss)
        self._train_metrics = metric_list(train_metrics) or _default_metrics(self.loss)
        for each in self._train_metrics:
            each.name = f"training {each.name}"
        self._val_metrics = metric_list(val_metrics) or copy.deepcopy(self._train_metrics)
        for each in self._val_metrics:
            each.name = f"validation {each.name.removeprefix('training ')}"
        self.logger = logging.Logger(name="Estimator", level=logging.INFO)
        self.logger.addHandler(logging.StreamHandler(sys.stdout))
        self.context = _context_list(context or device)
        self._initialize(initializer)
        if trainer is None:
            warn("No trainer specified, default SGD optimizer with learning rate 0.001 is used.")
            trainer = Trainer(net.collect_params(), "sgd", {"learning_rate": 0.001})
        elif not isinstance(trainer, Trainer):
            raise ValueError(f"Trainer must be a Gluon Trainer instance, got {trainer}")
        self.trainer = trainer
        self.batch_processor = BatchProcessor() if batch_processor is None else batch_processor
        for name in ("fit_batch", "evaluate_batch"):
            if not callable(getattr(self.batch_processor, name, None)):
                raise ValueError(
                    "Customized Batch Processor must contain fit_batch() and evaluate_batch() "
                    f"methods, {name} is not there"
                )
        self.max_epoch = self.max_batch = None
        self.batch_axis = 0

    @property
    def device(self):
        """list of Context: the contexts for training."""
        return self.context

    @property
    def train_metrics(self):
        """list of EvalMetric: metrics of training."""
        return self._train_metrics

    @property
    def val_metrics(self):
        """list of EvalMetric: metrics of validation."""
        return self._val_metrics

    def _initialize(self, initializer):
        parameters = list(self.net.collect_params().values())
        waiting = [p for p in parameters if p._data is None and p._deferred_init is None]
        for parameter in waiting:
            options = {} if initializer is None else {"default_init": initializer}
            parameter.initialize(ctx=self.context, **options)
        if initializer and not waiting:
            warn(
                "Network already fully initialized, skipping initialization. You don't need to "
                "pass initializer if you already initialized your net. You can use "
                "net.initialize(init=your_initializer, force_reinit=True) to force re-initialize."
            )

    def evaluate(self, val_data, batch_axis=0, event_handlers=None):
        """Evaluate the network, updating `val_metrics`.

        Parameters
        ----------
        val_data : DataLoader
            Batches of data and labels.
        batch_axis : int
            Axis along which batches are split over contexts.
        event_handlers : EventHandler or list of EventHandler, optional
            Handlers; default ones for metrics and logging are added if missing.

        Raises
        ------
        ValueError
            If `val_data` is not a loader.
        """
        _check_loader(val_data)
        for each in self.val_metrics:
            each.reset()
        events = _Events(self, self._prepare_default_validation_handlers(event_handlers))
        events.call("epoch_begin")
        for batch in val_data:
            events.call("batch_begin", batch=batch)
            _, label, pred, loss = self.batch_processor.evaluate_batch(self, batch, batch_axis)
            events.call("batch_end", batch=batch, pred=pred, label=label, loss=loss)
        events.call("epoch_end")

    def fit(
        self,
        train_data,
        val_data=None,
        epochs=None,
        event_handlers=None,
        batches=None,
        batch_axis=0,
    ):
        """Train the network.

        Parameters
        ----------
        train_data : DataLoader
            Batches of data and labels.
        val_data : DataLoader, optional
            Batches for validation after each epoch.
        epochs, batches : int
            Duration of the training; give exactly one.
        event_handlers : EventHandler or list of EventHandler, optional
            Handlers; default ones for stopping, trainer steps, metrics, validation and logging are
            added if missing.
        batch_axis : int
            Axis along which batches are split over contexts.

        Raises
        ------
        ValueError
            If `train_data` is not a loader, not exactly one of `epochs` and `batches` is given,
            or a handler refers to a metric that is not the estimator's.
        """
        _check_loader(train_data)
        if bool(epochs) == bool(batches):
            raise ValueError(
                "Fit only support exactly one type of iteration, train by number of epochs or "
                "number of batches. Please specify one and only one of: epochs or batches."
            )
        self.max_epoch, self.max_batch, self.batch_axis = epochs, batches, batch_axis
        events = _Events(self, self._prepare_default_handlers(val_data, event_handlers))
        events.call("train_begin")
        stops = False
        while not stops:
            events.call("epoch_begin")
            for batch in train_data:
                events.call("batch_begin", batch=batch)
                _, label, pred, loss = self.batch_processor.fit_batch(self, batch, batch_axis)
                if events.call("batch_end", batch=batch, pred=pred, label=label, loss=loss):
                    break
            stops = events.call("epoch_end")
        events.call("train_end")

    def _prepare_default_handlers(self, val_data, event_handlers):
        """The handlers of `fit` in calling order, including missing default ones."""
        handlers = _handler_list(event_handlers)
        added = [StoppingHandler(self.max_epoch, self.max_batch)]
        _add_missing(added, handlers, GradientUpdateHandler, GradientUpdateHandler)
        _add_missing(added, handlers, MetricHandler, lambda: MetricHandler(self.train_metrics))
        if val_data is not None:
            make = functools.partial(ValidationHandler, val_data, self.evaluate)
            _add_missing(added, handlers, ValidationHandler, make)
        _add_missing(
            added, handlers, LoggingHandler, lambda: LoggingHandler(metrics=self.train_metrics)
        )
        return _in_order(handlers, added, [*self.train_metrics, *self.val_metrics])

    def _prepare_default_validation_handlers(self, event_handlers):
        """The handlers of `evaluate`, likewise."""
        handlers = _handler_list(event_handlers)
        added = []
        _add_missing(added, handlers, MetricHandler, lambda: MetricHandler(self.val_metrics))
        _add_missing(
            added, handlers, LoggingHandler, lambda: LoggingHandler(metrics=self.val_metrics)
        )
        return _in_order(handlers, added, self.val_metrics)

    def _categorize_handlers(self, event_handlers):
        """Six lists of handlers: begin of training, epoch, batch; end of batch, epoch, training."""
        return tuple(
            [handler for handler in event_handlers if isinstance(handler, kind)]
            for kind in _EVENTS.values()
        )


class _Events:
    """Dispatches the events of a run to its handlers."""

    def __init__(self, estimator, handlers):
        self._estimator = estimator
        lists = estimator._categorize_handlers(handlers)
        self._handlers = dict(zip(_EVENTS, lists, strict=True))

    def call(self, event, **kwargs):
        """Call all handlers of an event; return whether one of them stops training."""
        answers = [
            getattr(handler, event)(self._estimator, **kwargs) for handler in self._handlers[event]
        ]
        return any(answers)


def _add_missing(added, handlers, kind, make):
    if not any(isinstance(handler, kind) for handler in handlers):
        added.append(make())


def _in_order(handlers, added, metrics):
    """Sort the user's and default handlers by priority; check the metrics they refer to."""
    for handler in handlers:
        check_references(handler, metrics)
    return sorted([*handlers, *added], key=lambda handler: getattr(handler, "priority", 0))


def _handler_list(handlers):
    handlers = [handlers] if isinstance(handlers, EventHandler) else list(handlers or [])
    for handler in handlers:
        if not isinstance(handler, EventHandler):
            raise ValueError(
                f"handler must be an EventHandler or a list of EventHandler, got {handler}"
            )
    return handlers


def _check_loader(data):
    if not isinstance(data, DataLoader):
        raise ValueError(
            "Estimator only support input as Gluon DataLoader. Alternatively, you can transform "
            f"your DataIter or any NDArray into Gluon DataLoader, got {type(data).__name__}"
        )


def _checked_loss(loss):
    if not isinstance(loss, Loss):
        raise ValueError(f"loss must be a Loss, refer to gluon.loss.Loss: {loss}")
    return loss


def _default_metrics(loss):
    suggested = suggested_metric(loss)
    named = metric.Loss(name_of_loss(loss))
    return [named] if suggested is None else [suggested, named]


def _context_list(context):
    contexts = [cpu()] if context is None else context
    contexts = [contexts] if isinstance(contexts, Context) else contexts
    if not isinstance(contexts, list) or not all(isinstance(c, Context) for c in contexts):
        raise ValueError(
            "context must be a Context or a list of Context, for example mx.cpu() or "
            f"[mx.cpu(0), mx.cpu(1)], got {context}"
        )
    return contexts
