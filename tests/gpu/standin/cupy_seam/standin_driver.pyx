# cython: language_level=3
"""CuPy's `cupy_backends.cuda.api.driver` upon the stand-in: functions of the same names and C types."""

from libc.stdint cimport intptr_t, uint64_t

from driver_api cimport *

from standin_runtime import _use_context


cdef int check(int status) except -1:
    """CuPy's own CUDADriverError asks the real driver for its text."""
    cdef const char *text = NULL
    if status:
        cuGetErrorString(status, &text)
        raise RuntimeError(text.decode())
    return 0


cpdef api intptr_t ctxGetCurrent() except? 0:
    cdef void *context = NULL
    _use_context()
    check(cuCtxGetCurrent(&context))
    return <intptr_t>context


cpdef api ctxSetCurrent(intptr_t ctx):
    check(cuCtxSetCurrent(<void *>ctx))


cpdef api int ctxGetDevice() except? -1:
    cdef int device = 0
    _use_context()
    check(cuCtxGetDevice(&device))
    return device


cpdef api intptr_t moduleLoadData(image) except? 0:
    cdef void *module = NULL
    cdef const char *data = image
    _use_context()
    check(cuModuleLoadData(&module, data))
    return <intptr_t>module


cpdef api moduleUnload(intptr_t module):
    check(cuModuleUnload(<void *>module))


cpdef api intptr_t moduleGetFunction(intptr_t module, str funcname) except? 0:
    cdef void *kernel = NULL
    name = funcname.encode()
    check(cuModuleGetFunction(&kernel, <void *>module, name))
    return <intptr_t>kernel


cpdef api intptr_t moduleGetGlobal(intptr_t module, str varname) except? 0:
    cdef uint64_t address = 0
    cdef size_t size = 0
    name = varname.encode()
    check(cuModuleGetGlobal_v2(&address, &size, <void *>module, name))
    return <intptr_t>address


cpdef api launchKernel(
    intptr_t f, unsigned int grid_dim_x, unsigned int grid_dim_y, unsigned int grid_dim_z,
    unsigned int block_dim_x, unsigned int block_dim_y, unsigned int block_dim_z,
    unsigned int shared_mem_bytes, intptr_t stream, intptr_t kernel_params, intptr_t extra,
):
    check(cuLaunchKernel(
        <void *>f, grid_dim_x, grid_dim_y, grid_dim_z, block_dim_x, block_dim_y, block_dim_z,
        shared_mem_bytes, <void *>stream, <void **>kernel_params, <void **>extra,
    ))


cpdef api int funcGetAttribute(int attribute, intptr_t f) except? -1:
    cdef int value = 0
    check(cuFuncGetAttribute(&value, attribute, <void *>f))
    return value


cpdef api funcSetAttribute(intptr_t f, int attribute, int value):
    check(cuFuncSetAttribute(<void *>f, attribute, value))


cpdef api int occupancyMaxActiveBlocksPerMultiprocessor(
    intptr_t func, int blockSize, size_t dynamicSMemSize
) except? -1:
    cdef int blocks = 0
    check(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, <void *>func, blockSize, dynamicSMemSize))
    return blocks
