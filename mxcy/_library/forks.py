"""What is different in processes that share the machine with others: forked ones, loaders' workers.

The native library looks after itself (kernels/core/fork.cc): the child of a fork uses one thread in
place of an OpenMP team, whose threads are not copied. Here is what Python has to do.
"""

import importlib.util
import os
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from mxcy import env
from mxcy._library import front

__all__ = ["become_worker", "guard"]


def guard(lock: Any) -> Any:
    """Have a lock taken while the process forks, so that no other thread holds it in the child."""
    os.register_at_fork(
        before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release
    )
    return lock


class _WhenImported:
    """Finds OpenCV when it is imported, once, and limits its threads then."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != "cv2":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                run(module)
                _limit_opencv()

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _limit_opencv() -> None:
    """Give OpenCV the number of threads of MXNET_MP_OPENCV_NUM_THREADS, now or when it comes."""
    threads = env.get("MXNET_MP_OPENCV_NUM_THREADS")
    opencv: Any = sys.modules.get("cv2")
    if hasattr(opencv, "setNumThreads"):
        opencv.setNumThreads(threads)
    elif not any(isinstance(finder, _WhenImported) for finder in sys.meta_path):
        sys.meta_path.insert(0, _WhenImported())


def become_worker() -> None:
    """Make this process modest: it is one of several that work at the same time.

    An operator uses one thread; MXNET_MP_WORKER_NTHREADS says how many operators run at a time, and
    MXNET_MP_OPENCV_NUM_THREADS how many threads OpenCV uses, where a program imports it.
    """
    front.set_threads(1)
    front.configure_engine(*front.engine_settings(env.get("MXNET_MP_WORKER_NTHREADS")))
    _limit_opencv()


os.register_at_fork(after_in_child=become_worker)
