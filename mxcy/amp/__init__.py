"""Automatic mixed precision: computing in 16-bit types where that does no harm."""

from mxcy._base.listing import listing
from mxcy.amp import amp, lists, loss_scaler
from mxcy.amp.amp import *  # noqa: F403

__all__ = ["amp", "lists", "loss_scaler", *amp.__all__]

__dir__ = listing(__name__)
