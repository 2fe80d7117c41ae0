"""Reductions and statistics, with and without NaN."""
