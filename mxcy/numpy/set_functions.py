"""`mx.np.set_functions`: distinct elements, under the name of the module where MXNet has it."""

from mxcy.numpy._selection.sets import unique_all, unique_counts, unique_inverse, unique_values

__all__ = ["unique_all", "unique_counts", "unique_inverse", "unique_values"]
