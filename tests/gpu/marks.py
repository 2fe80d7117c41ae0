"""Order between streams by marks: a Python model of kernels/cuda/order.cc.

Memory carries marks of its last writer and of the readers since. A mark is a stream and the number
of an operation on it. A stream waits for marks of other streams that it has not waited for yet, and
then for everything launched there so far: one event serves many waits. The host waits likewise.
"""

import ctypes

__all__ = ["Driver", "Memory", "Stream", "run", "wait_on_host"]


class Driver:
    """A CUDA driver library; a call that fails raises RuntimeError."""

    def __init__(self, path):
        self.library = ctypes.CDLL(str(path))
        self.call("cuInit", 0)
        self.call("cuCtxSetCurrent", self.create("cuDevicePrimaryCtxRetain", 0))

    def call(self, name, *args):
        """Call a function of the driver."""
        status = getattr(self.library, name)(*args)
        if status:
            text = ctypes.c_char_p()
            self.library.cuGetErrorString(status, ctypes.byref(text))
            raise RuntimeError(text.value.decode())

    def create(self, name, *args):
        """Return the handle that a function stores in its first argument."""
        handle = ctypes.c_void_p()
        self.call(name, ctypes.byref(handle), *args)
        return handle

    def launch(self, kernel, grid, block, stream, *args):
        """Launch a kernel with ctypes values as its arguments."""
        pointers = (ctypes.c_void_p * len(args))(*map(ctypes.addressof, args))
        self.call("cuLaunchKernel", kernel, grid, 1, 1, block, 1, 1, 0, stream, pointers, None)


class Stream:
    """A stream, its number of operations, and those of others it has waited for."""

    def __init__(self, driver):
        self.driver, self.handle = driver, driver.create("cuStreamCreateWithPriority", 1, 0)
        self.pushed = 0
        self.passed = {}  # other stream -> number of its last operation waited for
        self.event, self.recorded = driver.create("cuEventCreate", 2), 0

    def event_after(self, number):
        """Return an event after an operation; recorded again only if the last one is older."""
        if self.recorded < number:
            self.driver.call("cuEventRecord", self.event, self.handle)
            self.recorded = self.pushed
        return self.event

    def wait_for(self, marks):
        """Wait for the marks of other streams."""
        for stream, number in marks:
            if stream is not self and self.passed.get(stream, 0) < number:
                event = stream.event_after(number)
                self.driver.call("cuStreamWaitEvent", self.handle, event, 0)
                self.passed[stream] = stream.recorded


class Memory:
    """Device memory with its marks."""

    def __init__(self, driver, size):
        self.address = ctypes.c_uint64()
        driver.call("cuMemAlloc_v2", ctypes.byref(self.address), ctypes.c_size_t(size))
        self.writer, self.readers = [], []


def run(stream, reads, writes, push):
    """Push an operation on a stream after its dependencies.

    Parameters
    ----------
    stream : Stream
    reads, writes : list of Memory
    push : callable
        Pushes the operation.
    """
    for memory in reads:
        stream.wait_for(memory.writer)
    for memory in writes:
        stream.wait_for(memory.writer + memory.readers)
    push()
    stream.pushed += 1
    mark = (stream, stream.pushed)
    for memory in writes:
        memory.writer, memory.readers = [mark], []
    for memory in reads:
        if memory not in writes:
            others = [reader for reader in memory.readers if reader[0] is not stream]
            memory.readers = [*others, mark]


def wait_on_host(memory):
    """Wait until the host may read memory."""
    for stream, number in memory.writer:
        stream.driver.call("cuEventSynchronize", stream.event_after(number))
