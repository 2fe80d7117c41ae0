"""Fused layers in symbols: operators, chain matching, and folding of quantization ranges."""
