"""Creation of arrays from data read from files."""

import numpy as np

from mxcy._base import dtypes
from mxcy.ndarray import array as nd_array
from mxcy.numpy import array as np_array

__all__ = ["array_of"]


def array_of(values, code, ctx=None):
    """Create an NDArray from NumPy values; bfloat16 values are given as bits.

    Parameters
    ----------
    values : numpy.ndarray
    code : int
        Dtype code.
    ctx : Context, optional
    """
    if code == dtypes.CODES["bfloat16"]:
        floats = (values.astype(np.uint32) << 16).view(np.float32)
        return nd_array(floats, ctx=ctx, dtype="float32").astype("bfloat16")
    dtype = dtypes.DTYPES[code]
    values = values.astype(dtype, copy=False)
    if dtypes.is_complex(code):
        return np_array(values, dtype=dtype, ctx=ctx)
    return nd_array(values, ctx=ctx, dtype=dtype)
