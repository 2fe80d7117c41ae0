"""Activation functions with parameters, on devices."""
