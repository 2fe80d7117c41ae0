"""Automatic mixed precision: 16-bit computation where it does not harm accuracy."""

from mxcy._base.listing import listing
from mxcy.amp import amp, lists, loss_scaler
from mxcy.amp.amp import *  # noqa: F403

__all__ = ["amp", "lists", "loss_scaler", *amp.__all__]

__dir__ = listing(__name__)
