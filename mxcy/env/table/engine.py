"""Engine."""

from mxcy.env.kinds import anything, flag, integer, one_of
from mxcy.env.variable import Variable

_ENGINES = ("ThreadedEnginePerDevice", "ThreadedEngine", "NaiveEngine")

ROWS = (
    Variable("MXNET_ENGINE_TYPE", one_of(*_ENGINES, *(name + "Async" for name in _ENGINES)),
             "ThreadedEnginePerDevice", "I", "mxcy._library.front",
             "How operators are scheduled. NaiveEngine: synchronously in the caller, with errors "
             "raised there; ThreadedEngine: one queue with as many threads as there are "
             "cores, 16 at most; ThreadedEnginePerDevice: queues per device. The suffix Async "
             "makes no difference on CPUs.",
             test="env/test_engine.py::test_types"),
    Variable("MXNET_ENGINE_INFO", flag, False, "I", "mxcy._library.front",
             "1: print the engine's operations and waits to standard error.",
             test="env/test_engine.py::test_info"),
    Variable("MXNET_CPU_WORKER_NTHREADS", integer(1), 1, "I", "mxcy._library.front",
             "Number of operators per CPU context that run concurrently in "
             "ThreadedEnginePerDevice; "
             "they share the parallel team.",
             test="env/test_engine.py::test_cpu_workers"),
    Variable("MXNET_CPU_PRIORITY_NTHREADS", integer(1), 4, "I", "mxcy._library.front",
             "Threads for prioritized operations on all CPU contexts, started with the first one.",
             test="env/test_engine.py::test_priority_workers"),
    Variable("MXNET_GPU_WORKER_NTHREADS", integer(1), 2, "I", "mxcy._library.front",
             "Engine threads per GPU, and as many for prioritized "
             "operations, whose CUDA streams have the highest priority. Operators on CUDA "
             "devices are launched by the calling threads; those on virtual GPUs run in these.",
             test="env/test_engine.py::test_gpu_workers"),
    Variable("MXNET_GPU_COPY_NTHREADS", integer(1), 2, "I", "mxcy._library.front",
             "Engine threads per GPU for copies to and from it. Copies between the "
             "host and CUDA devices use separate streams in any thread.",
             test="env/test_engine.py::test_gpu_workers"),
    Variable("MXCY_ENGINE_WORK", integer(0), 4000000, "I", "mxcy._library.front",
             "Work, in elementwise steps, from which operators run on workers of the "
             "engine; smaller ones run in their caller unless their arrays are busy.",
             test="env/test_virtual.py::test_work"),
    Variable("MXCY_ENGINE_SOON", integer(0), 200, "I", "mxcy._library.front",
             "Microseconds: a thread that waits for a graph so soon after each of its runs "
             "computes it itself from then on, which saves waking a worker and the thread; "
             "0: workers compute all but small graphs.",
             test="engine/test_habit.py::test_variable"),
    Variable("MXCY_VIRTUAL_DEVICES", integer(0, 64), 0, "I", "mxcy._devices.virtual",
             "Number of virtual GPU contexts gpu(0), gpu(1)... if there is no GPU: their arrays "
             "are in "
             "host memory, their operations use the engine's queues of GPUs.",
             test="env/test_virtual.py::test_contexts"),
    Variable("MXCY_CUDA_DRIVER", anything, "libcuda.so.1", "I", "mxcy.gpu.devices",
             "The CUDA driver library: a file name for the dynamic linker, or "
             "a path. Without the default one, or without CuPy, there are no GPUs.",
             test="gpu/test_offer.py::test_a_driver_that_is_not_there"),
)
