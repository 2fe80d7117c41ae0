"""Convolutions of all kinds."""
