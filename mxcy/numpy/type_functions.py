"""`mx.np.type_functions`: dtype queries and limits, under MXNet's module name."""

from mxcy.numpy._types.promotion import can_cast, result_type
from mxcy.numpy._types.types import finfo, finfo_obj, iinfo, iinfo_obj

__all__ = ["can_cast", "finfo", "finfo_obj", "iinfo", "iinfo_obj", "result_type"]
