"""Linear algebra: factorisations, norms, and products."""
