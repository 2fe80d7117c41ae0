"""Normalisation, on devices."""
