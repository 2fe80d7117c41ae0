"""Pointwise operators and fused programs, on devices."""
