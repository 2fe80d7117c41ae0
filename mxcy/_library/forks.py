"""What is different in processes that share the machine with others: forked ones, loaders' workers.

The native library looks after itself (kernels/core/fork.cc): the child of a fork uses one thread in
place of an OpenMP team, whose threads are not copied. Here is what Python has to do.
"""

import os
from typing import Any

from mxcy import env
from mxcy._library import front
from mxcy._library.imports import when_imported

__all__ = ["become_worker", "guard"]


def guard(lock: Any) -> Any:
    """Have a lock taken while the process forks, so that no other thread holds it in the child."""
    os.register_at_fork(
        before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release
    )
    return lock


def _limit_opencv(opencv: Any) -> None:
    """Give OpenCV the number of threads of MXNET_MP_OPENCV_NUM_THREADS."""
    if hasattr(opencv, "setNumThreads"):
        opencv.setNumThreads(env.get("MXNET_MP_OPENCV_NUM_THREADS"))


def become_worker() -> None:
    """Make this process modest: it is one of several that work at the same time.

    An operator uses one thread; MXNET_MP_WORKER_NTHREADS says how many operators run at a time, and
    MXNET_MP_OPENCV_NUM_THREADS how many threads OpenCV uses, where a program imports it.
    """
    front.set_threads(1)
    front.configure_engine(*front.engine_settings(env.get("MXNET_MP_WORKER_NTHREADS")))
    when_imported("cv2", _limit_opencv)


os.register_at_fork(after_in_child=become_worker)
