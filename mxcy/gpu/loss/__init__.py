"""Losses and their gradients, on devices."""
