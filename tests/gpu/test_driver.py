"""The stand-in's driver reports errors as CUDA does, and marks order streams correctly."""

import ctypes
import signal

import numpy as np
import pytest

from tests.gpu.marks import Driver, Memory, Stream, run, wait_on_host
from tests.gpu.standin.build import build_driver
from tests.gpu.standin.compiler import compile_text

AXPY = """
extern "C" __global__ void axpy(const float* a, const float* b, float* c, float s, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    c[i] = a[i] * s + b[i];
}
extern "C" __global__ void write_at(float* a, int at) { a[at] = 1; }
"""
LENGTH = 64
HALF, COUNT = ctypes.c_float(0.5), ctypes.c_int(LENGTH)


class Counts(ctypes.Structure):
    """Struct of `standin_counts`."""

    _fields_ = tuple(
        (name, ctypes.c_int64)
        for name in ("launches", "copies", "graphs", "waits", "allocations", "records", "orders")
    )


@pytest.fixture
def driver():
    driver = Driver(build_driver())
    driver.library.standin_repair()
    driver.library.standin_order(b"lazy")
    yield driver
    driver.library.standin_repair()


def kernel(driver, name):
    module = driver.create("cuModuleLoadData", compile_text(AXPY).read_bytes())
    return driver.create("cuModuleGetFunction", module, name.encode())


def upload(driver, memory, values, stream=None):
    size = ctypes.c_size_t(values.nbytes)
    source = ctypes.c_void_p(values.ctypes.data)
    driver.call("cuMemcpyHtoDAsync_v2", memory.address, source, size, stream)


def download(driver, memory):
    values = np.empty(LENGTH, np.float32)
    size, target = ctypes.c_size_t(values.nbytes), ctypes.c_void_p(values.ctypes.data)
    driver.call("cuMemcpyDtoHAsync_v2", target, memory.address, size, None)
    driver.call("cuStreamSynchronize", None)
    return values


def launch_axpy(driver, axpy, stream, a, b, c):
    driver.launch(axpy, 1, 64, stream.handle, a.address, b.address, c.address, HALF, COUNT)


def wrong_results(driver, order, run_operation, steps=100, chunks=12):
    """Count the chunks that differ from NumPy's after random operations on four streams."""
    driver.library.standin_order(order.encode())
    axpy, rng = kernel(driver, "axpy"), np.random.default_rng(7)
    streams = [Stream(driver) for _ in range(4)]
    expected = rng.standard_normal((chunks, LENGTH)).astype(np.float32)
    memory = [Memory(driver, 4 * LENGTH) for _ in range(chunks)]
    for chunk, values in zip(memory, expected, strict=True):
        upload(driver, chunk, values)
    driver.call("cuCtxSynchronize")
    for _ in range(steps):
        a, b, c = (int(i) for i in rng.choice(chunks, 3, replace=False))
        stream = streams[rng.integers(4)]
        operands = memory[a], memory[b], memory[c]

        def push(stream=stream, operands=operands):
            launch_axpy(driver, axpy, stream, *operands)

        run_operation(stream, list(operands[:2]), [operands[2]], push)
        expected[c] = expected[a] * np.float32(0.5) + expected[b]
    wrong = 0
    for chunk, values in zip(memory, expected, strict=True):
        wait_on_host(chunk)
        wrong += not np.array_equal(download(driver, chunk), values)
    return wrong


@pytest.mark.parametrize("order", ["lazy", "eager", *(f"random:{seed}" for seed in range(8))])
def test_marks_suffice(driver, order):
    assert wrong_results(driver, order, run) == 0


def run_without_readers(stream, reads, writes, push):
    """A faulty `run` that does not wait for readers of what it overwrites."""
    for memory in writes:
        memory.readers = []
    run(stream, reads, writes, push)


def run_without_writers(stream, reads, writes, push):
    """A faulty `run` that does not wait for writers of what it reads."""
    writers = [memory.writer for memory in reads]
    for memory in reads:
        memory.writer = []
    run(stream, reads, writes, push)
    for memory, writer in zip(reads, writers, strict=True):
        memory.writer = writer


@pytest.mark.parametrize("incomplete", [run_without_readers, run_without_writers])
def test_a_missing_wait_shows(driver, incomplete):
    orders = ["lazy", *(f"random:{seed}" for seed in range(6))]
    assert sum(wrong_results(driver, order, incomplete) for order in orders) > 0


@pytest.mark.parametrize("statement", ["ctypes.string_at(memory.address.value, 4)", "pass"])
def test_the_host_cannot_touch_device_memory(run_python, statement):
    code = f"""
import ctypes, os, resource, signal, sys
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
from tests.gpu.marks import Driver, Memory
memory = Memory(Driver({str(build_driver())!r}), 64)
child = os.fork()
if child == 0:
    {statement}
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    expected = 0 if statement == "pass" else -signal.SIGSEGV
    assert int(run_python(code)) == expected


def test_errors_come_late_and_stay(driver):
    memory, stream = Memory(driver, 4096), Stream(driver)
    write_at = kernel(driver, "write_at")
    driver.launch(write_at, 1, 1, stream.handle, memory.address, ctypes.c_int(1024))
    with pytest.raises(RuntimeError, match="write_at.*illegal or misaligned address"):
        driver.call("cuStreamSynchronize", stream.handle)
    with pytest.raises(RuntimeError, match="CUDA error 700"):
        Memory(driver, 64)


def test_writing_behind_the_end_is_found_at_release(run_python):
    code = """
import ctypes, resource
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
from tests.gpu import test_driver as t
driver = t.Driver(t.build_driver())
memory = t.Memory(driver, 64)
driver.launch(t.kernel(driver, "write_at"), 1, 1, None, memory.address, ctypes.c_int(16))
driver.call("cuMemFree_v2", memory.address)
"""
    assert "wrote behind the end" in run_python(code, fails=True)


def test_memory_is_limited(run_python):
    code = f"""
from tests.gpu.marks import Driver, Memory
driver = Driver({str(build_driver())!r})
Memory(driver, 3000)
try:
    Memory(driver, 1100)
except RuntimeError as error:
    print(error)
"""
    assert "CUDA error 2: out of memory" in run_python(code, MXCY_STANDIN_MEMORY="4096")


def test_pinned_memory_is_read_when_the_copy_runs(driver):
    pinned = ctypes.c_void_p()
    driver.call("cuMemHostAlloc", ctypes.byref(pinned), ctypes.c_size_t(4 * LENGTH), 0)
    values = np.ctypeslib.as_array((ctypes.c_float * LENGTH).from_address(pinned.value))
    memory, stream = Memory(driver, 4 * LENGTH), Stream(driver)
    values[:] = 1
    upload(driver, memory, values, stream.handle)
    values[:] = 2  # too early
    driver.call("cuStreamSynchronize", stream.handle)
    assert (download(driver, memory) == 2).all()


def test_pageable_memory_is_staged(driver):
    values, memory = np.ones(LENGTH, np.float32), Memory(driver, 4 * LENGTH)
    upload(driver, memory, values)
    values[:] = 2
    assert (download(driver, memory) == 1).all()


def captured(driver, memory, stream, other):
    """Capture a graph of two launches on two streams."""
    axpy, (a, b, c) = kernel(driver, "axpy"), memory
    driver.call("cuStreamBeginCapture_v2", stream.handle, 0)
    run(stream, [a, b], [c], lambda: launch_axpy(driver, axpy, stream, a, b, c))
    run(other, [c, b], [a], lambda: launch_axpy(driver, axpy, other, c, b, a))
    stream.wait_for(a.writer)
    graph = ctypes.c_void_p()
    driver.call("cuStreamEndCapture", stream.handle, ctypes.byref(graph))
    return driver.create("cuGraphInstantiateWithFlags", graph, ctypes.c_ulonglong(0))


def test_graphs(driver):
    memory = [Memory(driver, 4 * LENGTH) for _ in range(3)]
    for chunk, value in zip(memory, (3, 4, 5), strict=True):
        upload(driver, chunk, np.full(LENGTH, value, np.float32))
    driver.call("cuCtxSynchronize")
    stream = Stream(driver)
    graph = captured(driver, memory, stream, Stream(driver))
    expected, counts = np.float32(3), Counts()
    driver.library.standin_counts(ctypes.byref(counts))
    launches = counts.launches
    for _ in range(3):
        driver.call("cuGraphLaunch", graph, stream.handle)
        expected = (expected / 2 + 4) / 2 + 4
    driver.call("cuStreamSynchronize", stream.handle)
    assert (download(driver, memory[0]) == expected).all()
    driver.library.standin_counts(ctypes.byref(counts))
    assert counts.launches == launches


def test_an_allocation_breaks_a_capture(driver):
    stream, graph = Stream(driver), ctypes.c_void_p()
    driver.call("cuStreamBeginCapture_v2", stream.handle, 0)
    with pytest.raises(RuntimeError, match="an allocation while a graph is captured"):
        Memory(driver, 64)
    with pytest.raises(RuntimeError, match="the capture was broken"):
        driver.call("cuStreamEndCapture", stream.handle, ctypes.byref(graph))


def test_invalid_driver_calls(driver):
    with pytest.raises(RuntimeError, match="CUDA error 500: there is no kernel missing"):
        kernel(driver, "missing")
    with pytest.raises(RuntimeError, match="CUDA error 200"):
        driver.create("cuModuleLoadData", b"no image" * 16)
    with pytest.raises(RuntimeError, match="a release of what is not device memory"):
        driver.call("cuMemFree_v2", ctypes.c_uint64(4096))
