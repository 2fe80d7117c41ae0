"""The operators' classes under mixed precision with bfloat16, with all of their names."""

from mxcy.ops.core.precision_lists import offer

__getattr__, __dir__ = offer(__name__, "bfloat16", aliases=True)
