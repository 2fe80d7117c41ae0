"""Reductions and statistics, including NaN-ignoring ones."""
