"""Host costs of launches, operator calls, plans, graphs and events."""

import ctypes
import os

import mxcy as mx
from mxcy.gpu import driver
from mxcy.gpu.compile import function
from tests.gpu.hardware.contenders import device_wait, torch
from tests.gpu.hardware.notes import begun
from tests.gpu.hardware.timing import Contest, seconds_of

GPU = mx.gpu(0)
EMPTY = 'extern "C" __global__ void nothing() {}'
ADD = 'extern "C" __global__ void add(float* x) { x[threadIdx.x] += 1.f; }'


def empty_kernels(notes):
    """Empty kernels by the driver and by CuPy."""
    from mxcy.gpu.views import cupy

    kernel, one = function(EMPTY, "nothing", 0), (1, 1, 1)
    contest = Contest(notes.is_small)
    contest.enter("by ctypes", lambda: driver.start(0, kernel, one, one, 0, []), device_wait)
    theirs = cupy().RawKernel(ADD, "add")
    y = cupy().zeros(32, "float32")
    contest.enter("CuPy's RawKernel", lambda: theirs((1,), (32,), (y,)), device_wait)
    for name, seconds in contest.times().items():
        notes.row("launches", what=name, microseconds=1e6 * seconds)


def calls(notes):
    """Calls of small operators from Python."""
    from mxcy.gpu.views import cupy

    contest = Contest(notes.is_small)
    a, b, c = (mx.nd.ones((8,), ctx=GPU) for _ in range(3))
    contest.enter("a + b", lambda: a + b, mx.nd.waitall)
    contest.enter("add, out=", lambda: mx.nd.broadcast_add(a, b, out=c), mx.nd.waitall)
    x, y = cupy().ones(8, "float32"), cupy().ones(8, "float32")
    contest.enter("CuPy's a + b", lambda: x + y, device_wait)
    if torch():
        p, q = (torch().ones(8, device="cuda") for _ in range(2))
        contest.enter("PyTorch's a + b", lambda: p + q, torch().cuda.synchronize)
    for name, seconds in contest.times().items():
        notes.row("calls of 8 elements", what=name, microseconds=1e6 * seconds)


def chain(count):
    """Return a network of small products, each one launch."""
    net = mx.gluon.nn.HybridSequential()
    for _ in range(count):
        net.add(mx.gluon.nn.Dense(16, in_units=16))
    net.initialize(ctx=GPU)
    net.hybridize(static_alloc=True, static_shape=True)
    return net


def plans(notes):
    """A plan of 50 launches, with CUDA graphs and without."""
    count, x = (5 if notes.is_small else 50), mx.nd.ones((4, 16), ctx=GPU)
    contest = Contest(notes.is_small)
    for enabled in ("0", "1"):
        os.environ["MXNET_ENABLE_CUDA_GRAPHS"] = enabled
        net = chain(count)
        for _ in range(4):
            net(x).wait_to_read()
        name = f"plan of {count} products, " + ("CUDA graph" if enabled == "1" else "launches")
        contest.enter(name, lambda net=net: net(x), mx.nd.waitall)
    os.environ.pop("MXNET_ENABLE_CUDA_GRAPHS")
    for name, seconds in contest.times().items():
        notes.row("plans", what=name, microseconds=1e6 * seconds, each=1e6 * seconds / count)


def events(notes):
    """Record an event, and make a stream wait for it."""
    library = ctypes.CDLL(os.environ.get("MXCY_CUDA_DRIVER", "libcuda.so.1"))
    stream, event = ctypes.c_void_p(driver.stream(0)), ctypes.c_void_p()
    library.cuEventCreate(ctypes.byref(event), 2)
    for name, call in (
        ("record", lambda: library.cuEventRecord(event, stream)),
        ("wait by a stream", lambda: library.cuStreamWaitEvent(stream, event, 0)),
    ):
        seconds = seconds_of(call, device_wait, notes.is_small)
        notes.row("events", what=name, microseconds=1e6 * seconds)


def main(notes):
    """Note all host costs."""
    for measure in (empty_kernels, calls, plans, events):
        notes.tried(measure.__name__, measure, notes)


if __name__ == "__main__":
    from tests.gpu.standin.seam import put_under_cupy

    put_under_cupy()
    main(begun())
