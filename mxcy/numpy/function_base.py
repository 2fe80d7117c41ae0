"""`mx.np.function_base`: grids of coordinates, under the name of the module where MXNet has it."""

from mxcy.numpy._creation.grids import meshgrid

__all__ = ["meshgrid"]
