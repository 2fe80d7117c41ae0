"""`mx.cuda`: NVIDIA's profiler; without GPUs refused, as by every MXNet built for CPUs alone."""

from mxcy.base import MXNetError
from mxcy.context import num_gpus
from mxcy.cuda import nvtx
from mxcy.gpu.views import cupy

__all__ = ["cuda_profiler_start", "cuda_profiler_stop", "nvtx"]


def cuda_profiler_start():
    """Start NVIDIA's profiler.

    Raises
    ------
    MXNetError
        Without a GPU. `mxcy.profiler` records what runs on CPUs.
    """
    if not num_gpus():
        raise MXNetError("cuda_profiler_start: there is no GPU; see mx.profiler")
    cupy().cuda.profiler.start()


def cuda_profiler_stop():
    """Stop NVIDIA's profiler.

    Raises
    ------
    MXNetError
        Without a GPU. `mxcy.profiler` records what runs on CPUs.
    """
    if not num_gpus():
        raise MXNetError("cuda_profiler_stop: there is no GPU; see mx.profiler")
    cupy().cuda.profiler.stop()
