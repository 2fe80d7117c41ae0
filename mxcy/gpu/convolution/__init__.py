"""Convolutions by cuDNN."""
