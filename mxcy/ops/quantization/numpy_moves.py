"""Reshape and transpose of quantized arrays, under MXNet 2's NumPy names."""

from mxcy.ops.quantization.moves import mover
from mxcy.ops.shape.numpy_reshape import Reshape
from mxcy.ops.shape.numpy_shape import Transpose

__all__ = []

mover(
    "_npx_quantized_reshape",
    Reshape,
    "Reshape quantized data, as npx.reshape does; the range is unchanged.",
    (((2, 3, 4), {"newshape": (-2, -1)}), ((2, 3, 4), {"newshape": (4, 6)})),
)
mover(
    "_npx_quantized_transpose",
    Transpose,
    "Transpose quantized data, as np.transpose does; the range is unchanged.",
    (((2, 3, 4), {"axes": (1, 2, 0)}), ((2, 3), {})),
)
