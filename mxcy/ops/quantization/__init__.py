"""Quantized operators on 8-bit integers, and quantization."""
