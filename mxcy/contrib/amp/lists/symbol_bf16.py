"""Operator lists of mixed precision with bfloat16, with all names of each operator."""

from mxcy.ops.core.precision_lists import offer

__getattr__, __dir__ = offer(__name__, "bfloat16", aliases=True)
