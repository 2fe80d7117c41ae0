"""The estimator: training and evaluation of a network, with event handlers.

>>> net = mx.gluon.nn.Dense(10)
>>> estimator = Estimator(net, mx.gluon.loss.SoftmaxCrossEntropyLoss(), trainer=trainer)
>>> estimator.fit(train_loader, val_loader, epochs=5)
"""

from mxcy._base.listing import listing
from mxcy.gluon.contrib.estimator import batch_processor, estimator, event_handler, utils
from mxcy.gluon.contrib.estimator.batch_processor import BatchProcessor
from mxcy.gluon.contrib.estimator.estimator import Estimator
from mxcy.gluon.contrib.estimator.event_handler import *  # noqa: F403
from mxcy.gluon.contrib.estimator.event_handler import __all__ as _event_handler

__all__ = ["BatchProcessor", "Estimator", "batch_processor", "estimator", "event_handler", "utils"]
__all__ += [name for name in _event_handler if name != "EventHandler"]

__dir__ = listing(__name__)
