"""Processes that share the machine: limits on the threads of forked ones.

The native library handles forks itself (kernels/core/fork.cc): a forked child uses one thread, as
the threads of an OpenMP team are not copied. This is the Python side.
"""

import os
from typing import Any

from mxcy import env
from mxcy._library import front
from mxcy._library.imports import when_imported

__all__ = ["become_worker"]


def _limit_opencv(opencv: Any) -> None:
    """Set OpenCV's thread count to MXNET_MP_OPENCV_NUM_THREADS."""
    if hasattr(opencv, "setNumThreads"):
        opencv.setNumThreads(env.get("MXNET_MP_OPENCV_NUM_THREADS"))


def become_worker() -> None:
    """Limit the threads of this process, which is one of several workers.

    An operator uses one thread, MXNET_MP_WORKER_NTHREADS operators run concurrently, and OpenCV,
    if the program imports it, uses MXNET_MP_OPENCV_NUM_THREADS threads.
    """
    front.set_threads(1)
    front.configure_engine(*front.engine_settings(env.get("MXNET_MP_WORKER_NTHREADS")))
    when_imported("cv2", _limit_opencv)


os.register_at_fork(after_in_child=become_worker)
