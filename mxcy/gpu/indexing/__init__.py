"""Indexing, sorting and variable-length sequences, on devices."""
