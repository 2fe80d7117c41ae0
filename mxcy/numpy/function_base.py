"""`mx.np.function_base`: coordinate grids, under MXNet's module name."""

from mxcy.numpy._creation.grids import meshgrid

__all__ = ["meshgrid"]
