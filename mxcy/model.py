"""`mx.model`: checkpoints, what callbacks are told, and the oldest interface for training."""

from importlib.util import find_spec

from mxcy.callback import BatchEndParam
from mxcy.checkpoint import load_checkpoint, load_params, save_checkpoint
from mxcy.feed_forward import FeedForward

#: whether scikit-learn is there, whose estimators `FeedForward` resembles
SKLEARN_INSTALLED = find_spec("sklearn") is not None

__all__ = [
    "SKLEARN_INSTALLED",
    "BatchEndParam",
    "FeedForward",
    "load_checkpoint",
    "load_params",
    "save_checkpoint",
]
