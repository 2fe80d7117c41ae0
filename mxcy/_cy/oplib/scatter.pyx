"""Kernels that address elements by coordinates: gather_nd, scatter_nd and relatives, one_hot.

Coordinates are first converted to block positions. Blocks are written in the order of their
coordinates, so that the last of equal ones wins; threads split the elements within blocks.
"""
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from mxcy._cy.native cimport (
    MX_F32, MX_F64, MX_I8, MX_I32, MX_I64, mx_call, mx_fail, mx_kernel_add, mx_tensor,
)
from mxcy._cy.oplib.kernel cimport (
    ALL_DTYPES, SUMMED_DTYPES, Number, convert, count, is_half, item_bytes, lacks, parallel_for,
    wide_bytes,
)
from mxcy._cy.oplib.indexing_params cimport mx_gather_params, mx_one_hot_params

cdef enum:
    GRAIN = 4096  # bytes per thread

ctypedef fused Item:  # elements that are only written, by size
    uint8_t
    uint16_t
    uint32_t
    uint64_t

cdef struct Blocks:
    char *dst
    const char *src
    const int64_t *place  # position of each block in the larger array
    int64_t n, inner  # number of blocks; elements per block
    int32_t dtype


cdef int load_places(const mx_call *call, const mx_gather_params *p, int64_t *place) noexcept nogil:
    """Convert coordinates to positions in place; return -1 if one is out of bounds."""
    cdef const mx_tensor *index = &call.inputs[p.index]
    cdef int64_t total = count(index), i, coordinate
    cdef int64_t n = total // p.ndim if p.ndim else 0
    cdef int d
    if lacks(call, total * sizeof(int64_t)) != 0:
        return -1
    convert(place, MX_I64, index.data, index.dtype, total, call.threads)
    for d in range(p.ndim):
        for i in range(n):
            coordinate = place[d * n + i]
            if coordinate < -p.shape[d] or coordinate >= p.shape[d]:
                return mx_fail(
                    "IndexError: index %ld is out of bounds for axis %d with size %ld",
                    coordinate, d, p.shape[d],
                )
            coordinate = coordinate + p.shape[d] if coordinate < 0 else coordinate
            place[i] = coordinate if d == 0 else place[i] * p.shape[d] + coordinate
    return 0


cdef int prepare(const mx_call *call, Blocks *b) noexcept nogil:
    """Initialise the struct for a kernel whose output is the larger array."""
    cdef const mx_gather_params *p = <const mx_gather_params *>call.params
    cdef int64_t *place = <int64_t *>call.workspace
    if load_places(call, p, place) != 0:
        return -1
    b.dst, b.src = <char *>call.outputs[0].data, <const char *>call.inputs[p.data].data
    b.place, b.inner, b.dtype = place, p.inner, call.outputs[0].dtype
    b.n = count(&call.inputs[p.data]) // p.inner if p.inner else 0
    return 0


# --- gather --------------------------------------------------------------------------------------

cdef void gather_blocks(void *context, int64_t begin, int64_t end) noexcept nogil:
    cdef Blocks *b = <Blocks *>context
    cdef int64_t i, bytes = b.inner * item_bytes[b.dtype]
    if bytes == 4:
        for i in range(begin, end):
            (<uint32_t *>b.dst)[i] = (<const uint32_t *>b.src)[b.place[i]]
        return
    for i in range(begin, end):
        memcpy(b.dst + i * bytes, b.src + b.place[i] * bytes, bytes)


cdef int gather_nd(const mx_call *call) noexcept nogil:
    cdef Blocks b
    cdef int64_t bytes
    if prepare(call, &b) != 0:
        return -1
    if b.inner == 0:
        return 0
    bytes = b.inner * item_bytes[b.dtype]
    b.n = count(&call.outputs[0]) // b.inner
    parallel_for(call.threads, b.n, 1 + GRAIN // bytes, gather_blocks, &b)
    return 0


# --- scatter -------------------------------------------------------------------------------------

cdef void put_blocks(void *context, int64_t begin, int64_t end) noexcept nogil:
    """Write the bytes [begin, end) of every block."""
    cdef Blocks *b = <Blocks *>context
    cdef int64_t i, bytes = b.inner * item_bytes[b.dtype]
    for i in range(b.n):
        memcpy(b.dst + b.place[i] * bytes + begin, b.src + i * bytes + begin, end - begin)


cdef inline void add_items(Number *dst, const Blocks *b, int64_t begin, int64_t end) noexcept nogil:
    """Add the elements [begin, end) of every block."""
    cdef const Number *src = <const Number *>b.src
    cdef int64_t i, j, to, first
    for i in range(b.n):
        to, first = b.place[i] * b.inner, i * b.inner
        for j in range(begin, end):
            dst[to + j] = dst[to + j] + src[first + j]


cdef void add_blocks(void *context, int64_t begin, int64_t end) noexcept nogil:
    cdef Blocks *b = <Blocks *>context
    if b.dtype == MX_F32:
        add_items(<float *>b.dst, b, begin, end)
    elif b.dtype == MX_F64:
        add_items(<double *>b.dst, b, begin, end)
    elif b.dtype == MX_I64:
        add_items(<int64_t *>b.dst, b, begin, end)
    elif b.dtype == MX_I32:
        add_items(<int32_t *>b.dst, b, begin, end)
    elif b.dtype == MX_I8:
        add_items(<int8_t *>b.dst, b, begin, end)
    else:
        add_items(<uint8_t *>b.dst, b, begin, end)


cdef int scatter_nd(const mx_call *call) noexcept nogil:
    """Write the blocks over zeros."""
    cdef Blocks b
    cdef int bytes = item_bytes[call.outputs[0].dtype]
    if prepare(call, &b) != 0:
        return -1
    memset(b.dst, 0, count(&call.outputs[0]) * bytes)
    parallel_for(call.threads, b.inner * bytes, GRAIN, put_blocks, &b)
    return 0


cdef int scatter_set_nd(const mx_call *call) noexcept nogil:
    """Write the blocks over a copy of the first input."""
    cdef Blocks b
    cdef mx_tensor *out = &call.outputs[0]
    cdef int bytes = item_bytes[out.dtype]
    if prepare(call, &b) != 0:
        return -1
    if out.data != call.inputs[0].data:
        memcpy(out.data, call.inputs[0].data, count(out) * bytes)
    parallel_for(call.threads, b.inner * bytes, GRAIN, put_blocks, &b)
    return 0


cdef int scatter_add_nd(const mx_call *call) noexcept nogil:
    """Sum the blocks with equal coordinates."""
    cdef const mx_gather_params *p = <const mx_gather_params *>call.params
    cdef const mx_tensor *data = &call.inputs[p.data]
    cdef mx_tensor *out = &call.outputs[0]
    cdef int64_t size = count(out), n = count(data)
    cdef float *wide
    cdef Blocks b
    if lacks(call, 8 * count(&call.inputs[p.index]) + wide_bytes(out, data)) != 0:
        return -1
    if prepare(call, &b) != 0:
        return -1
    if is_half(out.dtype):  # accumulate in float32
        wide = <float *>call.workspace + 2 * count(&call.inputs[p.index])
        convert(wide, MX_F32, data.data, data.dtype, n, call.threads)
        b.src, b.dst, b.dtype = <const char *>wide, <char *>(wide + n), MX_F32
    memset(b.dst, 0, size * item_bytes[b.dtype])
    parallel_for(call.threads, b.inner, GRAIN // 4, add_blocks, &b)
    if is_half(out.dtype):
        convert(out.data, out.dtype, b.dst, MX_F32, size, call.threads)
    return 0


# --- one_hot -------------------------------------------------------------------------------------

cdef struct OneHot:
    void *dst
    const int64_t *index
    int64_t depth
    uint64_t on, off  # the bits of the two values
    int32_t bytes


cdef inline void light_rows(Item *dst, const OneHot *h, int64_t begin, int64_t end) noexcept nogil:
    cdef int64_t i
    if h.off == 0:
        memset(dst + begin * h.depth, 0, (end - begin) * h.depth * sizeof(Item))
    else:
        for i in range(begin * h.depth, end * h.depth):
            dst[i] = <Item>h.off
    for i in range(begin, end):
        if 0 <= h.index[i] < h.depth:
            dst[i * h.depth + h.index[i]] = <Item>h.on


cdef void light_all(void *context, int64_t begin, int64_t end) noexcept nogil:
    cdef OneHot *h = <OneHot *>context
    if h.bytes == 4:
        light_rows(<uint32_t *>h.dst, h, begin, end)
    elif h.bytes == 8:
        light_rows(<uint64_t *>h.dst, h, begin, end)
    elif h.bytes == 2:
        light_rows(<uint16_t *>h.dst, h, begin, end)
    else:
        light_rows(<uint8_t *>h.dst, h, begin, end)


cdef int one_hot(const mx_call *call) noexcept nogil:
    cdef const mx_one_hot_params *p = <const mx_one_hot_params *>call.params
    cdef int32_t dtype = call.outputs[0].dtype
    cdef int64_t n = count(&call.inputs[0])
    cdef OneHot h
    if lacks(call, n * sizeof(int64_t)) != 0:
        return -1
    convert(call.workspace, MX_I64, call.inputs[0].data, call.inputs[0].dtype, n, call.threads)
    h.on = h.off = 0
    convert(&h.on, dtype, &p.on, MX_F64, 1, 1)
    convert(&h.off, dtype, &p.off, MX_F64, 1, 1)
    h.dst, h.index, h.depth = call.outputs[0].data, <const int64_t *>call.workspace, p.depth
    h.bytes = item_bytes[dtype]
    parallel_for(call.threads, n, 1 + GRAIN // (4 * p.depth + 1), light_all, &h)
    return 0


#: kernels registered by this module
KERNELS = ("gather_nd", "scatter_nd", "scatter_set_nd", "scatter_add_nd", "one_hot")

mx_kernel_add("gather_nd", gather_nd, ALL_DTYPES, 0)
mx_kernel_add("scatter_nd", scatter_nd, ALL_DTYPES, 0)
mx_kernel_add("scatter_set_nd", scatter_set_nd, ALL_DTYPES, 0)
mx_kernel_add("scatter_add_nd", scatter_add_nd, SUMMED_DTYPES, 0)
mx_kernel_add("one_hot", one_hot, ALL_DTYPES, 0)
