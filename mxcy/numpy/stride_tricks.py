"""`mx.np.stride_tricks`: arrays of one shape, under the name of the module where MXNet has it."""

from mxcy.numpy._creation.grids import broadcast_arrays

__all__ = ["broadcast_arrays"]
