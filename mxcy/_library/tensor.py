"""Tensors as the library's functions take them."""

import ctypes

__all__ = ["Tensor"]


class Tensor(ctypes.Structure):
    """mx_tensor of kernels/include/mxcy.h."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("ndim", ctypes.c_int32),
        ("dtype", ctypes.c_int32),
    )
