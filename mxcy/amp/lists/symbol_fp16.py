"""Operator lists of mixed precision with float16, with one name per operator."""

from mxcy.ops.core.precision_lists import offer

__getattr__, __dir__ = offer(__name__, "float16", aliases=False)
