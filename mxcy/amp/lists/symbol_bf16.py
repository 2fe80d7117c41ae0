"""The operators' classes under mixed precision with bfloat16, each operator by its name."""

from mxcy.ops.core.precision_lists import offer

__getattr__, __dir__ = offer(__name__, "bfloat16", aliases=False)
