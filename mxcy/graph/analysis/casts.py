"""The operators that change nothing but the dtype."""

from mxcy.ops.core.record import find

__all__ = ["CASTS"]

CASTS = (find("Cast"), find("amp_cast"))
