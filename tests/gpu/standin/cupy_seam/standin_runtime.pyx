# cython: language_level=3
"""CuPy's `cupy_backends.cuda.api.runtime` upon the stand-in: functions of the same names and C types.

What is not here stays CuPy's own and raises cudaErrorInsufficientDriver.
"""

from libc.stdint cimport intptr_t, uint64_t

from driver_api cimport *

from cupy_backends.cuda.api.runtime import PointerAttributes, check_status

cdef enum:
    MEMCPY_HOST_TO_HOST = 0
    MEMCPY_HOST_TO_DEVICE = 1
    MEMCPY_DEVICE_TO_HOST = 2
    MEMCPY_DEVICE_TO_DEVICE = 3
    MEMCPY_DEFAULT = 4


cdef int check(int status) except -1:
    if status:
        check_status(status)
    return 0


cdef int use_context() except -1:
    """Give this thread a context if it has none, as the runtime does."""
    cdef void *context = NULL
    cuCtxGetCurrent(&context)
    if context == NULL:
        check(cuInit(0))
        check(cuDevicePrimaryCtxRetain(&context, 0))
        check(cuCtxSetCurrent(context))
    return 0


# --- devices --------------------------------------------------------------------------------------
cdef api object _ensure_context():
    use_context()


cpdef api int driverGetVersion() except? -1:
    cdef int version = 0
    check(cuDriverGetVersion(&version))
    return version


cpdef api int getDevice() except? -1:
    cdef int device = 0
    use_context()
    check(cuCtxGetDevice(&device))
    return device


cpdef api setDevice(int device):
    cdef void *context = NULL
    check(cuInit(0))
    check(cuDevicePrimaryCtxRetain(&context, device))
    check(cuCtxSetCurrent(context))


cpdef api int getDeviceCount() except? -1:
    cdef int count = 0
    check(cuInit(0))
    check(cuDeviceGetCount(&count))
    return count


cpdef api int deviceGetAttribute(int attrib, int device) except? -1:
    cdef int value = 0
    check(cuInit(0))
    check(cuDeviceGetAttribute(&value, attrib, device))
    return value


cpdef api getDeviceProperties(int device):
    cdef size_t memory = 0
    check(cuInit(0))
    check(cuDeviceTotalMem_v2(&memory, device))
    numbers = {
        "maxThreadsPerBlock": 1, "sharedMemPerBlock": 8, "warpSize": 10, "multiProcessorCount": 16,
        "major": 75, "minor": 76,
    }
    properties = {"name": b"stand-in for a GPU", "totalGlobalMem": memory}
    for name, number in numbers.items():
        properties[name] = deviceGetAttribute(number, device)
    properties["maxGridSize"] = [deviceGetAttribute(number, device) for number in (5, 6, 7)]
    return properties


cpdef api deviceSynchronize():
    use_context()
    check(cuCtxSynchronize())


cpdef api int deviceCanAccessPeer(int device, int peerDevice) except? -1:
    cdef int possible = 0
    check(cuDeviceCanAccessPeer(&possible, device, peerDevice))
    return possible


# --- memory ---------------------------------------------------------------------------------------
cpdef api memGetInfo():
    cdef size_t available = 0, total = 0
    use_context()
    check(cuMemGetInfo_v2(&available, &total))
    return available, total


cpdef api intptr_t malloc(size_t size) except? 0:
    cdef uint64_t address = 0
    use_context()
    check(cuMemAlloc_v2(&address, size))
    return <intptr_t>address


cpdef api free(intptr_t ptr):
    check(cuMemFree_v2(<uint64_t>ptr))


cpdef api intptr_t hostAlloc(size_t size, unsigned int flags) except? 0:
    cdef void *address = NULL
    use_context()
    check(cuMemHostAlloc(&address, size, flags))
    return <intptr_t>address


cpdef api freeHost(intptr_t ptr):
    check(cuMemFreeHost(<void *>ptr))


cpdef api memcpyAsync(intptr_t dst, intptr_t src, size_t size, int kind, intptr_t stream):
    cdef bint to_device = standin_device_of(<uint64_t>dst) >= 0
    cdef bint from_device = standin_device_of(<uint64_t>src) >= 0
    cdef int actual = 3 if to_device and from_device else 1 if to_device else 2 if from_device else 0
    if kind != MEMCPY_DEFAULT and kind != actual:
        raise AssertionError(f"a copy of kind {kind} between memory of kind {actual}")
    use_context()
    if actual == MEMCPY_DEVICE_TO_DEVICE:
        check(cuMemcpyDtoDAsync_v2(<uint64_t>dst, <uint64_t>src, size, <void *>stream))
    elif actual == MEMCPY_HOST_TO_DEVICE:
        check(cuMemcpyHtoDAsync_v2(<uint64_t>dst, <const void *>src, size, <void *>stream))
    elif actual == MEMCPY_DEVICE_TO_HOST:
        check(cuMemcpyDtoHAsync_v2(<void *>dst, <uint64_t>src, size, <void *>stream))
    else:
        raise AssertionError("a copy from host to host")


cpdef api memcpy(intptr_t dst, intptr_t src, size_t size, int kind):
    memcpyAsync(dst, src, size, kind, 0)
    check(cuStreamSynchronize(NULL))


cpdef api memsetAsync(intptr_t ptr, int value, size_t size, intptr_t stream):
    use_context()
    check(cuMemsetD8Async(<uint64_t>ptr, <unsigned char>value, size, <void *>stream))


cpdef api memset(intptr_t ptr, int value, size_t size):
    memsetAsync(ptr, value, size, 0)


cpdef api int pointerGetMemoryType(intptr_t ptr) except? -1:
    if standin_device_of(<uint64_t>ptr) >= 0:
        return 2
    return standin_is_pinned(<uint64_t>ptr)


cpdef pointerGetAttributes(intptr_t ptr):
    cdef int device = standin_device_of(<uint64_t>ptr)
    on_device = device >= 0
    return PointerAttributes(
        max(device, 0), ptr if on_device else 0, 0 if on_device else ptr, pointerGetMemoryType(ptr)
    )


# --- streams and events ---------------------------------------------------------------------------
cpdef api intptr_t streamCreateWithPriority(unsigned int flags, int priority) except? 0:
    cdef void *stream = NULL
    use_context()
    check(cuStreamCreateWithPriority(&stream, flags, priority))
    return <intptr_t>stream


cpdef api intptr_t streamCreateWithFlags(unsigned int flags) except? 0:
    return streamCreateWithPriority(flags, 0)


cpdef api intptr_t streamCreate() except? 0:
    return streamCreateWithPriority(0, 0)


cpdef api streamDestroy(intptr_t stream):
    check(cuStreamDestroy_v2(<void *>stream))


cpdef api streamSynchronize(intptr_t stream):
    use_context()
    check(cuStreamSynchronize(<void *>stream))


cpdef api streamQuery(intptr_t stream):
    use_context()
    return cuStreamQuery(<void *>stream)


cpdef streamWaitEvent(intptr_t stream, intptr_t event, unsigned int flags=0):
    use_context()
    check(cuStreamWaitEvent(<void *>stream, <void *>event, flags))


cpdef api intptr_t eventCreateWithFlags(unsigned int flags) except? 0:
    cdef void *event = NULL
    use_context()
    check(cuEventCreate(&event, flags))
    return <intptr_t>event


cpdef api intptr_t eventCreate() except? 0:
    return eventCreateWithFlags(0)


cpdef api eventDestroy(intptr_t event):
    check(cuEventDestroy_v2(<void *>event))


cpdef api eventRecord(intptr_t event, intptr_t stream):
    use_context()
    check(cuEventRecord(<void *>event, <void *>stream))


cpdef api eventSynchronize(intptr_t event):
    check(cuEventSynchronize(<void *>event))


cpdef api eventQuery(intptr_t event):
    return cuEventQuery(<void *>event)


cpdef api float eventElapsedTime(intptr_t start, intptr_t end) except? 0:
    cdef float milliseconds = 0
    check(cuEventElapsedTime(&milliseconds, <void *>start, <void *>end))
    return milliseconds


# --- graphs ---------------------------------------------------------------------------------------
cpdef streamBeginCapture(intptr_t stream, int mode=1):
    check(cuStreamBeginCapture_v2(<void *>stream, mode))


cpdef api intptr_t streamEndCapture(intptr_t stream) except? 0:
    cdef void *graph = NULL
    check(cuStreamEndCapture(<void *>stream, &graph))
    return <intptr_t>graph


cpdef api bint streamIsCapturing(intptr_t stream) except? -1:
    cdef int status = 0
    use_context()
    check(cuStreamIsCapturing(<void *>stream, &status))
    return status != 0


cpdef api intptr_t graphInstantiate(intptr_t graph) except? 0:
    cdef void *instance = NULL
    check(cuGraphInstantiateWithFlags(&instance, <void *>graph, 0))
    return <intptr_t>instance


cpdef api graphLaunch(intptr_t graphExec, intptr_t stream):
    check(cuGraphLaunch(<void *>graphExec, <void *>stream))


cpdef api graphUpload(intptr_t graphExec, intptr_t stream):
    pass


cpdef api graphDestroy(intptr_t graph):
    check(cuGraphDestroy(<void *>graph))


cpdef api graphExecDestroy(intptr_t graphExec):
    check(cuGraphExecDestroy(<void *>graphExec))


def _use_context():
    """For `standin_driver`."""
    use_context()
