"""Sparse storage."""
