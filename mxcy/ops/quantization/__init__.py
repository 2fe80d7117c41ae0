"""Operators on numbers of 8 bits with a range, and those that make such numbers."""
