"""Other frameworks on this machine, for comparison."""

import functools

from mxcy.gpu.compile import Nvrtc, compiler
from mxcy.gpu.views import cupy

__all__ = ["device_wait", "on_cupy", "torch"]


@functools.cache
def torch():
    """Return PyTorch if it finds a GPU, else None."""
    if not isinstance(compiler(), Nvrtc):
        return None  # on the stand-in
    try:
        import torch as module
    except ImportError:
        return None
    return module if module.cuda.is_available() else None


def device_wait():
    """Wait for all work of CuPy and others."""
    cupy().cuda.Device(0).synchronize()


def on_cupy(array):
    """Return a CuPy array over the memory of a device array."""
    return cupy().asarray(array)
