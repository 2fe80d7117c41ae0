"""Convolutions and related operators."""
