"""Kernels on padded batches of sequences; cumulative sums and products.

A batch is (steps, sequences) for axis 0 or (sequences, steps) for axis 1, of blocks.
"""
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from mxcy._cy.native cimport (
    MX_F32, MX_F64, MX_I8, MX_I32, MX_I64, mx_call, mx_kernel_add,
)
from mxcy._cy.oplib.kernel cimport (
    ALL_DTYPES, SUMMED_DTYPES, Number, convert, count, is_half, item_bytes, lacks, parallel_for,
)
from mxcy._cy.oplib.indexing_params cimport mx_scan_params, mx_sequence_params

cdef enum:
    GRAIN = 4096  # bytes per thread

cdef struct Batch:
    char *dst
    const char *src
    const int64_t *lengths
    int64_t steps, batch, block  # block: bytes of one step of one sequence
    int32_t axis, bytes
    uint64_t value  # the bits of the masking value


cdef int prepare(const mx_call *call, int64_t shortest, Batch *b) noexcept nogil:
    """Initialise the batch of a call; lengths are clipped to [shortest, steps]."""
    cdef const mx_sequence_params *p = <const mx_sequence_params *>call.params
    cdef int64_t *lengths = <int64_t *>call.workspace
    cdef int32_t dtype = call.outputs[0].dtype
    cdef int64_t i
    if lacks(call, p.batch * sizeof(int64_t)) != 0:
        return -1
    convert(lengths, MX_I64, call.inputs[1].data, call.inputs[1].dtype, p.batch, call.threads)
    for i in range(p.batch):
        lengths[i] = max(shortest, min(lengths[i], p.steps))
    b.dst, b.src = <char *>call.outputs[0].data, <const char *>call.inputs[0].data
    b.lengths, b.steps, b.batch, b.axis = lengths, p.steps, p.batch, p.axis
    b.bytes = item_bytes[dtype]
    b.block = p.inner * b.bytes
    b.value = 0
    convert(&b.value, dtype, &p.value, MX_F64, 1, 1)
    return 0


cdef inline int64_t place(const Batch *b, int64_t step, int64_t sequence) noexcept nogil:
    """The byte offset of the block of a step of a sequence."""
    if b.axis == 0:
        return (step * b.batch + sequence) * b.block
    return (sequence * b.steps + step) * b.block


cdef inline void fill(char *dst, int64_t size, const Batch *b) noexcept nogil:
    """Fill `size` bytes with the masking value."""
    cdef int64_t i
    if b.value == 0:
        memset(dst, 0, size)
        return
    for i in range(size // b.bytes):
        memcpy(dst + i * b.bytes, &b.value, b.bytes)


cdef void mask_blocks(void *context, int64_t begin, int64_t end) noexcept nogil:
    cdef Batch *b = <Batch *>context
    cdef int64_t i, step, sequence
    for i in range(begin, end):  # in the order of memory
        step = i // b.batch if b.axis == 0 else i % b.steps
        sequence = i % b.batch if b.axis == 0 else i // b.steps
        if step < b.lengths[sequence]:
            memcpy(b.dst + i * b.block, b.src + i * b.block, b.block)
        else:
            fill(b.dst + i * b.block, b.block, b)


cdef int sequence_mask(const mx_call *call) noexcept nogil:
    cdef Batch b
    if prepare(call, 0, &b) != 0:
        return -1
    parallel_for(call.threads, b.steps * b.batch, 1 + GRAIN // (b.block + 1), mask_blocks, &b)
    return 0


cdef void reverse_blocks(void *context, int64_t begin, int64_t end) noexcept nogil:
    cdef Batch *b = <Batch *>context
    cdef int64_t i, step, sequence, source
    for i in range(begin, end):
        step, sequence = i // b.batch, i % b.batch
        source = step
        if step < b.lengths[sequence]:
            source = b.lengths[sequence] - 1 - step
        memcpy(b.dst + i * b.block, b.src + place(b, source, sequence), b.block)


cdef int sequence_reverse(const mx_call *call) noexcept nogil:
    cdef Batch b
    if prepare(call, 0, &b) != 0:
        return -1
    parallel_for(call.threads, b.steps * b.batch, 1 + GRAIN // (b.block + 1), reverse_blocks, &b)
    return 0


cdef int sequence_last(const mx_call *call) noexcept nogil:
    cdef Batch b
    cdef int64_t i
    if prepare(call, 1, &b) != 0:
        return -1
    if count(&call.inputs[0]) == 0:
        return 0
    for i in range(b.batch):
        memcpy(b.dst + i * b.block, b.src + place(&b, b.lengths[i] - 1, i), b.block)
    return 0


cdef int sequence_last_grad(const mx_call *call) noexcept nogil:
    cdef Batch b
    cdef int64_t i
    if prepare(call, 1, &b) != 0:
        return -1
    if count(&call.outputs[0]) == 0:
        return 0
    memset(b.dst, 0, b.steps * b.batch * b.block)
    for i in range(b.batch):
        memcpy(b.dst + place(&b, b.lengths[i] - 1, i), b.src + i * b.block, b.block)
    return 0


# --- cumulative sums and products ----------------------------------------------------------------

cdef struct Scan:
    void *dst
    const void *src
    int64_t extent, inner
    int32_t dtype
    bint multiplies


cdef inline void multiply_runs(
    Number *dst, const Scan *s, int64_t begin, int64_t end
) noexcept nogil:
    """Multiply along the dimension, for the outer positions [begin, end)."""
    cdef const Number *src = <const Number *>s.src
    cdef int64_t outer, i, first, run = s.extent * s.inner
    cdef Number total
    for outer in range(begin, end):
        first = outer * run
        if s.inner == 1:
            total = 1
            for i in range(first, first + run):
                total = total * src[i]
                dst[i] = total
        else:
            memcpy(dst + first, src + first, s.inner * sizeof(Number))
            for i in range(first + s.inner, first + run):
                dst[i] = dst[i - s.inner] * src[i]


cdef inline void scan_runs(Number *dst, const Scan *s, int64_t begin, int64_t end) noexcept nogil:
    """Sum along the dimension, for the outer positions [begin, end)."""
    cdef const Number *src = <const Number *>s.src
    cdef int64_t outer, i, first, run = s.extent * s.inner
    cdef Number total
    if s.multiplies:
        multiply_runs(dst, s, begin, end)
        return
    for outer in range(begin, end):
        first = outer * run
        if s.inner == 1:
            total = 0
            for i in range(first, first + run):
                total = total + src[i]
                dst[i] = total
        else:
            memcpy(dst + first, src + first, s.inner * sizeof(Number))
            for i in range(first + s.inner, first + run):
                dst[i] = dst[i - s.inner] + src[i]


cdef void scan_all(void *context, int64_t begin, int64_t end) noexcept nogil:
    cdef Scan *s = <Scan *>context
    if s.dtype == MX_F32:
        scan_runs(<float *>s.dst, s, begin, end)
    elif s.dtype == MX_F64:
        scan_runs(<double *>s.dst, s, begin, end)
    elif s.dtype == MX_I64:
        scan_runs(<int64_t *>s.dst, s, begin, end)
    elif s.dtype == MX_I32:
        scan_runs(<int32_t *>s.dst, s, begin, end)
    elif s.dtype == MX_I8:
        scan_runs(<int8_t *>s.dst, s, begin, end)
    else:
        scan_runs(<uint8_t *>s.dst, s, begin, end)


cdef int scan(const mx_call *call, bint multiplies) noexcept nogil:
    cdef const mx_scan_params *p = <const mx_scan_params *>call.params
    cdef int64_t n = count(&call.outputs[0])
    cdef int32_t dtype = call.outputs[0].dtype
    cdef Scan s
    if n == 0:
        return 0
    s.dst, s.src, s.dtype = call.outputs[0].data, call.inputs[0].data, dtype
    s.extent, s.inner, s.multiplies = p.extent, p.inner, multiplies
    if is_half(dtype):  # accumulate in float32
        if lacks(call, n * sizeof(float)) != 0:
            return -1
        convert(call.workspace, MX_F32, s.src, dtype, n, call.threads)
        s.src = s.dst = call.workspace
        s.dtype = MX_F32
    parallel_for(call.threads, p.outer, 1 + GRAIN // (p.extent * p.inner), scan_all, &s)
    if is_half(dtype):
        convert(call.outputs[0].data, dtype, s.dst, MX_F32, n, call.threads)
    return 0


cdef int cumsum(const mx_call *call) noexcept nogil:
    return scan(call, False)


cdef int cumprod(const mx_call *call) noexcept nogil:
    return scan(call, True)


#: kernels registered by this module
KERNELS = (
    "sequence_mask", "sequence_reverse", "sequence_last", "sequence_last_grad", "cumsum",
    "cumprod",
)

mx_kernel_add("sequence_mask", sequence_mask, ALL_DTYPES, 0)
mx_kernel_add("sequence_reverse", sequence_reverse, ALL_DTYPES, 0)
mx_kernel_add("sequence_last", sequence_last, ALL_DTYPES, 0)
mx_kernel_add("sequence_last_grad", sequence_last_grad, ALL_DTYPES, 0)
mx_kernel_add("cumsum", cumsum, SUMMED_DTYPES, 0)
mx_kernel_add("cumprod", cumprod, SUMMED_DTYPES, 0)
