"""Reshaping and transposing quantized arrays under the names of MXNet 2's NumPy half."""

from mxcy.ops.quantization.moves import mover
from mxcy.ops.shape.numpy_reshape import Reshape
from mxcy.ops.shape.numpy_shape import Transpose

__all__ = []

mover(
    "_npx_quantized_reshape",
    Reshape,
    "Give quantized data another shape, as npx.reshape does; the range stays.",
    (((2, 3, 4), {"newshape": (-2, -1)}), ((2, 3, 4), {"newshape": (4, 6)})),
)
mover(
    "_npx_quantized_transpose",
    Transpose,
    "Permute the dimensions of quantized data, as np.transpose does; the range stays.",
    (((2, 3, 4), {"axes": (1, 2, 0)}), ((2, 3), {})),
)
