"""Indexing functions: take, delete, insert, sort, search, and set operations."""
