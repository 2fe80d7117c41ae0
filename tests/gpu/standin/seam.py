"""Selecting the stand-in for this process, CuPy included."""

import ctypes
import importlib.util
import os
from pathlib import Path

from tests.gpu.standin.build import DRIVER, build_cudnn
from tests.gpu.standin.compiler import CXX, LaunchError, compile_text, headers_digest, instance_name

__all__ = ["Compiler", "is_chosen", "is_real", "offer_cudnn", "put_under_cupy"]


def is_chosen():
    """Return whether MXCY_CUDA_DRIVER names the stand-in."""
    return os.path.basename(os.environ.get("MXCY_CUDA_DRIVER", "")) == DRIVER


def is_real():
    """Return whether MXCY_CUDA_DRIVER names another driver than the stand-in."""
    return "MXCY_CUDA_DRIVER" in os.environ and not is_chosen()


def put_under_cupy():
    """Install the seam under CuPy if the stand-in is chosen; CuPy must not be imported yet."""
    if is_chosen() and importlib.util.find_spec("cupy"):
        from tests.gpu.standin import cupy_seam

        cupy_seam.install()
    if is_chosen():
        from mxcy.gpu.compile import use_compiler

        use_compiler(Compiler())
        offer_cudnn()


def offer_cudnn():
    """Let the real cuDNN make plans for the stand-in; return whether there is cuDNN."""
    if importlib.util.find_spec("cudnn") is None or CXX is None:
        return False
    from mxcy.gpu.convolution import cudnn

    library, looked_for = build_cudnn()
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        ctypes.CDLL(str(looked_for), ctypes.RTLD_GLOBAL)
    if is_chosen():
        cudnn.use_library(str(library))
    return cudnn.is_open()


class Compiler:
    """Replacement of `mxcy.gpu.compile.Nvrtc` by g++, which builds libraries for this CPU."""

    version = f"g++ {headers_digest()}"  # a part of the names under which mxcy caches kernels

    def compile(self, text, architecture, options=(), instances=()):
        """Compile CUDA source; see `mxcy.gpu.compile.Nvrtc.compile`."""
        from mxcy.base import MXNetError

        try:
            own = [option for option in options if option.startswith(("-D", "-I"))]
            library = compile_text(text, own, instances)
        except LaunchError as error:
            raise MXNetError(f"the compiler rejects a CUDA source:\n{error}") from None
        names = {name: instance_name(name) for name in instances}
        return Path(library).read_bytes(), names, ""
