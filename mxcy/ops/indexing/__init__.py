"""Operators that select or order elements: indexing, sorting, sequences."""
