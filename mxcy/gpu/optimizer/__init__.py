"""Optimizer steps, on devices."""
