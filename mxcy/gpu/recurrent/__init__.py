"""Recurrent layers, on devices."""
