"""The functions of `mxcy.amp`, with MXNet 1.x's lists beside them."""

from mxcy._base import older_paths
from mxcy._base.dtypes import bfloat16
from mxcy.contrib.amp import lists

__all__ = ["bfloat16", "lists"]

__getattr__ = older_paths.offer(__name__, "mxcy.amp.amp")
