"""Automatic mixed precision under MXNet 1.x's name: `mxcy.amp` has it."""

from mxcy._base import older_paths
from mxcy.contrib.amp import amp, lists, loss_scaler

__all__ = ["amp", "lists", "loss_scaler"]

__getattr__ = older_paths.offer(__name__, "mxcy.amp.amp")
