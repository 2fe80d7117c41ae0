"""Alias of the loss scaler of `mxcy.amp`."""

from mxcy._base import older_paths

__getattr__ = older_paths.offer(__name__, "mxcy.amp.loss_scaler")
