"""Operators that carry a loss."""
