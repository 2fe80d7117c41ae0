"""`mx.model`: checkpoints, what callbacks are told, and the oldest interface for training."""

from mxcy.callback import BatchEndParam
from mxcy.checkpoint import load_checkpoint, load_params, save_checkpoint
from mxcy.feed_forward import FeedForward

__all__ = ["BatchEndParam", "FeedForward", "load_checkpoint", "load_params", "save_checkpoint"]
