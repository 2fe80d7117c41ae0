"""Gradients of one or two bits; see kernels/include/mxcy_gradient_bits.h."""

import ctypes

import numpy as np

from mxcy._library.open import open_library

__all__ = ["add_levels", "round_gradients", "scale_levels"]

_library = open_library()
_round, _add, _scale = (
    _library.mx_round_gradients,
    _library.mx_add_gradient_levels,
    _library.mx_scale_gradient_levels,
)
_round.argtypes = [ctypes.c_int32, ctypes.c_int64, ctypes.c_float, *[ctypes.c_void_p] * 3]
_add.argtypes = [ctypes.c_int32, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p]
_scale.argtypes = [ctypes.c_int64, ctypes.c_int32, ctypes.c_void_p, ctypes.c_float, ctypes.c_void_p]
_round.restype = _add.restype = _scale.restype = None


def round_gradients(
    bits: int,
    threshold: float,
    gradients: np.ndarray,
    residuals: np.ndarray | None,
    packed: np.ndarray,
) -> None:
    """Round gradients to packed bits, releasing the GIL.

    Parameters
    ----------
    bits : {1, 2}
        Per element.
    threshold : float
    gradients : numpy.ndarray of float32
        Contiguous.
    residuals : numpy.ndarray of float32, or None
        Added to the gradients, then replaced by the rounding errors.
    packed : numpy.ndarray of uint8
        Takes the bits, in whole words of 4 bytes.
    """
    lost = None if residuals is None else residuals.ctypes.data
    _round(bits, gradients.size, threshold, gradients.ctypes.data, lost, packed.ctypes.data)


def add_levels(bits: int, packed: np.ndarray, sums: np.ndarray) -> None:
    """Add packed levels, -1, 0 or 1, to sums, releasing the GIL.

    Parameters
    ----------
    bits : {1, 2}
    packed : numpy.ndarray of uint8
    sums : numpy.ndarray of int8 or int16
    """
    _add(bits, sums.size, packed.ctypes.data, sums.itemsize, sums.ctypes.data)


def scale_levels(sums: np.ndarray, factor: float, values: np.ndarray) -> None:
    """Multiply sums of levels by a factor, releasing the GIL.

    Parameters
    ----------
    sums : numpy.ndarray of int8 or int16
    factor : float
    values : numpy.ndarray of float32
        Takes the products.
    """
    _scale(sums.size, sums.itemsize, sums.ctypes.data, factor, values.ctypes.data)
