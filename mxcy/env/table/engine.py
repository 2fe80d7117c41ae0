"""Engine."""

from mxcy.env.kinds import anything, flag, integer, one_of
from mxcy.env.variable import Variable

_ENGINES = ("ThreadedEnginePerDevice", "ThreadedEngine", "NaiveEngine")

ROWS = (
    Variable("MXNET_ENGINE_TYPE", one_of(*_ENGINES, *(name + "Async" for name in _ENGINES)),
             "ThreadedEnginePerDevice", "I", "mxcy._library.front",
             "How operators are scheduled. NaiveEngine: each runs in its caller, and errors are "
             "raised there; ThreadedEngine: one queue for all, with as many threads as there are "
             "cores, 16 at most; ThreadedEnginePerDevice: queues for each device. Async at the end "
             "of a name makes no difference on CPUs.",
             test="env/test_engine.py::test_types"),
    Variable("MXNET_ENGINE_INFO", flag, False, "I", "mxcy._library.front",
             "1: print what the engine runs and waits for to the standard error stream.",
             test="env/test_engine.py::test_info"),
    Variable("MXNET_CPU_WORKER_NTHREADS", integer(1), 1, "I", "mxcy._library.front",
             "How many operators of one CPU context may run at a time, in ThreadedEnginePerDevice; "
             "they share the parallel team.",
             test="env/test_engine.py::test_cpu_workers"),
    Variable("MXNET_CPU_PRIORITY_NTHREADS", integer(1), 4, "I", "mxcy._library.front",
             "Threads for prioritized operations of all CPU contexts, started with the first one.",
             test="env/test_engine.py::test_priority_workers"),
    Variable("MXNET_GPU_WORKER_NTHREADS", integer(1), 2, "I", "mxcy._library.front",
             "Threads for what the engine does on each GPU, and as many for its prioritized "
             "operations, whose streams have a CUDA device's greatest priority. Operators on CUDA "
             "devices are launched by the threads that call them; virtual GPUs' run in these.",
             test="env/test_engine.py::test_gpu_workers"),
    Variable("MXNET_GPU_COPY_NTHREADS", integer(1), 2, "I", "mxcy._library.front",
             "Threads for copies to and from each GPU that the engine is given. Copies between the "
             "host and CUDA devices have streams of their own in any thread.",
             test="env/test_engine.py::test_gpu_workers"),
    Variable("MXCY_ENGINE_WORK", integer(0), 4000000, "I", "mxcy._library.front",
             "From how much work on, in elementwise steps, operators are left to workers of the "
             "engine; smaller ones run in their caller unless their arrays are in use.",
             test="env/test_virtual.py::test_work"),
    Variable("MXCY_VIRTUAL_DEVICES", integer(0, 64), 0, "I", "mxcy._devices.virtual",
             "How many contexts gpu(0), gpu(1)... there are without any GPU: their arrays lie in "
             "the memory of the host, their operations take a GPU's way through the engine.",
             test="env/test_virtual.py::test_contexts"),
    Variable("MXCY_CUDA_DRIVER", anything, "libcuda.so.1", "I", "mxcy.gpu.devices",
             "The CUDA driver that GPU contexts use: a file name that the dynamic linker finds, or "
             "a path. Without the default one, or without CuPy, there are no GPUs.",
             test="gpu/test_offer.py::test_a_driver_that_is_not_there"),
)
