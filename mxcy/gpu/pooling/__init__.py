"""Pooling, on devices."""
