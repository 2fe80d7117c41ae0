"""Operators that reshape, cut, join, pad and permute."""
