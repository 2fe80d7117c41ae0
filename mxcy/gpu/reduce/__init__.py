"""Reductions and scans, on devices."""
