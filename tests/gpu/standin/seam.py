"""Whether this process computes on the stand-in, and CuPy with it."""

import importlib.util
import os

from tests.gpu.standin.build import DRIVER

__all__ = ["is_chosen", "put_under_cupy"]


def is_chosen():
    """Whether MXCY_CUDA_DRIVER names the stand-in."""
    return os.path.basename(os.environ.get("MXCY_CUDA_DRIVER", "")) == DRIVER


def put_under_cupy():
    """Put it under CuPy, if it is chosen; CuPy must not have been imported yet."""
    if is_chosen() and importlib.util.find_spec("cupy"):
        from tests.gpu.standin import cupy_seam

        cupy_seam.install()
