"""Alias of `mxcy.amp` under MXNet 1.x's name."""

from mxcy._base import older_paths
from mxcy._base.listing import listing
from mxcy.contrib.amp import amp, lists, loss_scaler

_LATER = [name for name in amp.__all__ if name not in vars(amp)]

__all__ = ["amp", "lists", "loss_scaler", *_LATER]

__getattr__ = older_paths.offer(__name__, "mxcy.amp.amp")
__dir__ = listing(__name__, _LATER)
