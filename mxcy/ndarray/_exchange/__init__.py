"""Sharing memory with other libraries, C callbacks and processes."""
