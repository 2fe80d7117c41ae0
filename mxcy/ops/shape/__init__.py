"""Operators that reshape, slice, join, pad and permute."""
