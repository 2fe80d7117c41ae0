"""Fused layers in symbols: their operators, where they go, and what they take in when quantized."""
