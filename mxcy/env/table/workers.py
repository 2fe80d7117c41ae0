"""Worker processes."""

from mxcy.env.kinds import integer
from mxcy.env.variable import Variable

ROWS = (
    Variable("MXNET_MP_WORKER_NTHREADS", integer(1), 1, "I", "mxcy._library.forks",
             "MXNET_CPU_WORKER_NTHREADS for forked processes and workers of "
             "data loaders. Their operators use one thread each.",
             test="env/test_workers.py::test_engine_workers"),
    Variable("MXNET_MP_OPENCV_NUM_THREADS", integer(0), 0, "I", "mxcy._library.forks",
             "Threads of OpenCV in forked processes and in workers of data loaders; "
             "below 2: only the caller's.",
             test="env/test_workers.py::test_opencv_threads"),
)
