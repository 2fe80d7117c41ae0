"""Attention, on devices."""
