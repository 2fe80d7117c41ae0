"""Shapes: what they are, reshaped, joined, split, padded."""
