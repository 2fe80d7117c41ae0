"""Operators that choose elements by indices, order or position in a sequence."""
