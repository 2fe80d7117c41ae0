"""Formats of files: records one after the other, checkpoints."""
