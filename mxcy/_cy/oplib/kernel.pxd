# Helpers of kernels written in Cython: parallel loops, sizes and casts.
from cython.parallel cimport prange
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memset

from mxcy._cy.native cimport MX_BF16, MX_F16, mx_call, mx_fail, mx_kernel, mx_tensor

cdef extern from *:
    """
    #define MX_DTYPE(name, code, bytes) bytes,
    static const int32_t item_bytes[] = {
    #include "dtypes.def"
    };
    #undef MX_DTYPE
    enum {
      ALL_DTYPES = MX_REAL_DTYPES,
      SUMMED_DTYPES = 1 << MX_F32 | 1 << MX_F64 | 1 << MX_F16 | 1 << MX_BF16 | 1 << MX_I8 |
                      1 << MX_U8 | 1 << MX_I32 | 1 << MX_I64
    };
    static inline mx_kernel cast_kernel(void) {
      static mx_kernel found;  // every thread would store the same
      return found ? found : (found = mx_kernel_find("cast", MX_F32, 0));
    }
    """
    mx_kernel cast_kernel() nogil
    const int32_t *item_bytes "item_bytes"
    const uint32_t ALL_DTYPES
    const uint32_t SUMMED_DTYPES  # those of Number, and 16-bit types via float32

ctypedef fused Number:  # elements with arithmetic
    float
    double
    int8_t
    uint8_t
    int32_t
    int64_t

# Work on [begin, end) of a loop; `context` is the kernel's own struct.
ctypedef void (*Body)(void *context, int64_t begin, int64_t end) noexcept nogil


cdef inline void parallel_for(
    int32_t threads, int64_t n, int64_t grain, Body body, void *context
) noexcept nogil:
    """Run body over [0, n) in at most `threads` chunks of a multiple of `grain`."""
    cdef int64_t each
    cdef int32_t t
    if threads <= 1 or n <= grain:
        if n > 0:
            body(context, 0, n)
        return
    each = ((n + grain - 1) // grain + threads - 1) // threads * grain
    for t in prange(threads, num_threads=threads, schedule="static", chunksize=1):
        if t * each < n:
            body(context, t * each, min((t + 1) * each, n))


cdef inline int lacks(const mx_call *call, int64_t bytes) noexcept nogil:
    """Return -1 with an error text if the workspace is too small, else 0."""
    if <int64_t>call.workspace_size >= bytes:
        return 0
    return mx_fail("the workspace has %zu bytes, the kernel needs %ld", call.workspace_size, bytes)


cdef inline int64_t count(const mx_tensor *tensor) noexcept nogil:
    """The number of elements."""
    cdef int64_t n = 1
    cdef int i
    for i in range(tensor.ndim):
        n *= tensor.shape[i]
    return n


cdef inline bint is_half(int32_t dtype) noexcept nogil:
    return dtype == MX_F16 or dtype == MX_BF16


cdef inline int64_t wide_bytes(const mx_tensor *a, const mx_tensor *b) noexcept nogil:
    """Workspace for float32 copies of two 16-bit arrays; 0 for other types."""
    return sizeof(float) * (count(a) + count(b)) if is_half(a.dtype) else 0


cdef inline void convert(
    void *dst, int32_t dst_dtype, const void *src, int32_t src_dtype, int64_t n, int32_t threads
) noexcept nogil:
    """Convert n elements from one element type to another."""
    cdef mx_tensor source, target
    cdef mx_call call
    source.data, source.shape, source.strides = <void *>src, &n, NULL
    source.ndim, source.dtype = 1, src_dtype
    target.data, target.shape, target.strides = dst, &n, NULL
    target.ndim, target.dtype = 1, dst_dtype
    memset(&call, 0, sizeof(call))
    call.nin = call.nout = 1
    call.inputs, call.outputs, call.threads = &source, &target, threads
    cast_kernel()(&call)
