"""Indexing: index keys, and reading and writing of ``a[key]``."""
