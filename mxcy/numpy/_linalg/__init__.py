"""Linear algebra: factorizations, norms, and products."""
