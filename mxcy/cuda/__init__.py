"""`mx.cuda`: NVIDIA's profiler; refused, as by every MXNet that was built for CPUs alone."""

from mxcy.base import MXNetError
from mxcy.cuda import nvtx

__all__ = ["cuda_profiler_start", "cuda_profiler_stop", "nvtx"]


def cuda_profiler_start():
    """Start NVIDIA's profiler.

    Raises
    ------
    MXNetError
        Always: this backend has no CUDA. `mxcy.profiler` records what runs on CPUs.
    """
    raise MXNetError("cuda_profiler_start: mxcy computes on CPUs; see mx.profiler")


def cuda_profiler_stop():
    """Stop NVIDIA's profiler.

    Raises
    ------
    MXNetError
        Always: this backend has no CUDA. `mxcy.profiler` records what runs on CPUs.
    """
    raise MXNetError("cuda_profiler_stop: mxcy computes on CPUs; see mx.profiler")
