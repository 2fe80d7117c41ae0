"""Operators on 8-bit integers with a range, and those that make such numbers."""
