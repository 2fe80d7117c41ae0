"""Elementwise functions, comparisons, differences, series, and payments."""
