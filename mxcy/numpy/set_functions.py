"""`mx.np.set_functions`: unique elements, under MXNet's module name."""

from mxcy.numpy._selection.sets import unique_all, unique_counts, unique_inverse, unique_values

__all__ = ["unique_all", "unique_counts", "unique_inverse", "unique_values"]
