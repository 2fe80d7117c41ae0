"""Lists of operator names by dtype class, derived from the operators' records."""

from mxcy.amp.lists import symbol_bf16, symbol_fp16

__all__ = ["symbol_bf16", "symbol_fp16"]
