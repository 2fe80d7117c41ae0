"""`mx.np.stride_tricks`: broadcasting, under MXNet's module name."""

from mxcy.numpy._creation.grids import broadcast_arrays

__all__ = ["broadcast_arrays"]
