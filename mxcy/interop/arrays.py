"""Arrays from elements that were read."""

import numpy as np

from mxcy._base import dtypes
from mxcy.ndarray import array as nd_array
from mxcy.numpy import array as np_array

__all__ = ["array_of"]


def array_of(values, code, ctx=None):
    """An NDArray of NumPy's values; those of bfloat16 are its bits.

    Parameters
    ----------
    values : numpy.ndarray
    code : int
        The element type.
    ctx : Context, optional
    """
    if code == dtypes.CODES["bfloat16"]:
        wide = (values.astype(np.uint32) << 16).view(np.float32)
        return nd_array(wide, ctx=ctx, dtype="float32").astype("bfloat16")
    dtype = dtypes.DTYPES[code]
    values = values.astype(dtype, copy=False)
    if dtypes.is_complex(code):
        return np_array(values, dtype=dtype, ctx=ctx)
    return nd_array(values, ctx=ctx, dtype=dtype)
