"""`mx.np.arrayprint`: how arrays are printed, under the name of the module where MXNet has it."""

from mxcy.numpy._types.types import set_printoptions

__all__ = ["set_printoptions"]
