"""Kernels that select elements along a dimension by integers: take, pick, gradients.

Indices of any element type are first converted to int64 in the workspace and clipped or wrapped.
Gradients are summed in an order that does not depend on the number of threads.
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
from mxcy._cy.oplib.indexing_params cimport mx_along_params, mx_take_params

cdef enum:
    CLIP = 0
    WRAP = 1
    RAISE = 2
    GRAIN = 512  # rows per thread
    CHECKED = 1024  # indices checked at a time, to remain in cache
    SHORT = 16  # block size below which no list is built

ctypedef fused Item:  # elements that are only moved, by size
    uint8_t
    uint16_t
    uint32_t
    uint64_t


# --- indices -------------------------------------------------------------------------------------

cdef bint all_within(const int64_t *index, int64_t n, int64_t extent) noexcept nogil:
    """Whether indices are in [0, extent)."""
    cdef uint64_t outside = 0  # top bit is set by a negative index or distance from the end
    cdef int64_t i
    for i in range(n):
        outside |= <uint64_t>index[i] | (<uint64_t>(extent - 1) - <uint64_t>index[i])
    return outside < <uint64_t>1 << 63


cdef struct Bounds:
    const int64_t *index
    int64_t extent
    bint exceeded  # an index is out of bounds


cdef void check_bounds(void *context, int64_t begin, int64_t end) noexcept nogil:
    cdef Bounds *bounds = <Bounds *>context
    if not all_within(bounds.index + begin, end - begin, bounds.extent):
        bounds.exceeded = True


cdef bint all_within_bounds(const mx_tensor *source, int64_t extent, int threads) noexcept nogil:
    """Whether int64 indices are in [0, extent), checked in parallel."""
    cdef Bounds bounds
    bounds.index, bounds.extent, bounds.exceeded = <const int64_t *>source.data, extent, False
    parallel_for(threads, count(source), GRAIN * SHORT, check_bounds, &bounds)
    return not bounds.exceeded


cdef const int64_t *load_indices(
    const mx_call *call, int input_number, int64_t extent, int mode
) noexcept nogil:
    """Load an input's indices as int64 in [0, extent), subject to the mode; NULL on failure.

    They are in the workspace, or unmoved if nothing had to be changed.
    """
    cdef const mx_tensor *source = &call.inputs[input_number]
    cdef int64_t *index = <int64_t *>call.workspace
    cdef int64_t i, position, n = count(source)
    if lacks(call, n * sizeof(int64_t)) != 0:
        return NULL
    if n and extent == 0:
        mx_fail("indices: cannot take elements of a dimension of size 0")
        return NULL
    if source.dtype == MX_I64 and n and all_within_bounds(source, extent, call.threads):
        return <const int64_t *>source.data
    convert(index, MX_I64, source.data, source.dtype, n, call.threads)
    for i in range(n):
        position = index[i]
        if 0 <= position < extent:
            continue
        if mode == RAISE:
            mx_fail("indices: out of bounds for a dimension of size %ld", extent)
            return NULL
        if mode == WRAP:
            position %= extent
            index[i] = position + extent if position < 0 else position
        else:
            index[i] = 0 if position < 0 else extent - 1
    return index


# --- take ----------------------------------------------------------------------------------------

cdef struct Take:
    char *dst
    const char *src
    const int64_t *index
    int64_t taken, extent, block  # number of indices; number of rows; bytes per row
    bint exceeded  # an index is out of bounds


cdef inline void take_items(Item *tag, const Take *t, int64_t begin, int64_t end) noexcept nogil:
    cdef Item *dst = <Item *>t.dst
    cdef const Item *src
    cdef const int64_t *index
    cdef int64_t i = begin, j, outer, first, last
    while i < end:  # run by run of indices
        outer = i // t.taken
        first, last = i - outer * t.taken, min(t.taken, end - outer * t.taken)
        src, index = <const Item *>t.src + outer * t.extent, t.index
        for j in range(first, last):
            dst[i + j - first] = src[index[j]]
        i += last - first


cdef void take_rows(void *context, int64_t begin, int64_t end) noexcept nogil:
    cdef Take *t = <Take *>context
    cdef int64_t i, outer
    if t.block == 4:
        take_items[uint32_t](NULL, t, begin, end)
    elif t.block == 8:
        take_items[uint64_t](NULL, t, begin, end)
    elif t.block == 2:
        take_items[uint16_t](NULL, t, begin, end)
    elif t.block == 1:
        take_items[uint8_t](NULL, t, begin, end)
    else:
        for i in range(begin, end):
            outer = i // t.taken
            memcpy(
                t.dst + i * t.block,
                t.src + (outer * t.extent + t.index[i - outer * t.taken]) * t.block,
                t.block,
            )


cdef void take_checked(void *context, int64_t begin, int64_t end) noexcept nogil:
    """Like take_rows, until an index is out of bounds."""
    cdef Take *t = <Take *>context
    cdef int64_t n
    while begin < end and not t.exceeded:
        n = min(<int64_t>CHECKED, end - begin)
        if all_within(t.index + begin, n, t.extent):
            take_rows(t, begin, begin + n)
        else:
            t.exceeded = True
        begin += n


cdef int take(const mx_call *call) noexcept nogil:
    cdef const mx_take_params *p = <const mx_take_params *>call.params
    cdef const mx_tensor *source = &call.inputs[p.index]
    cdef int bytes = item_bytes[call.outputs[0].dtype]
    cdef Take t
    if count(&call.outputs[0]) == 0:
        return 0
    t.dst, t.src = <char *>call.outputs[0].data, <const char *>call.inputs[p.data].data
    t.extent, t.block, t.taken = p.extent, p.inner * bytes, count(source)
    if source.dtype == MX_I64 and p.outer == 1 and p.extent and p.mode != RAISE:
        t.index, t.exceeded = <const int64_t *>source.data, False
        parallel_for(call.threads, t.taken, 1 + GRAIN // p.inner, take_checked, &t)
        if not t.exceeded:
            return 0
    t.index = load_indices(call, p.index, p.extent, p.mode)
    if t.index == NULL:
        return -1
    parallel_for(call.threads, p.outer * t.taken, 1 + GRAIN // p.inner, take_rows, &t)
    return 0


# --- the gradient of take ------------------------------------------------------------------------

cdef struct Sums:
    void *dst
    const void *src
    const int64_t *start  # start of each row's list in `order`
    const int64_t *order  # positions in `src`, grouped by target row
    const int64_t *index  # target rows
    int64_t taken, extent, inner
    int32_t dtype


cdef inline void sum_row(Number *dst, const Number *src, const Sums *s, int64_t row) noexcept nogil:
    """Sum the blocks of `src` that belong to a row."""
    cdef const Number *block
    cdef int64_t i, j
    cdef int64_t first = s.start[row], last = s.start[row + 1]
    if first == last:
        memset(dst, 0, s.inner * sizeof(Number))
        return
    memcpy(dst, src + s.order[first] * s.inner, s.inner * sizeof(Number))
    for i in range(first + 1, last):
        block = src + s.order[i] * s.inner
        for j in range(s.inner):
            dst[j] = dst[j] + block[j]


cdef inline void sum_rows_of(Number *dst, const Sums *s, int64_t begin, int64_t end) noexcept nogil:
    cdef const Number *src = <const Number *>s.src
    cdef int64_t i, outer
    for i in range(begin, end):
        outer = i // s.extent
        sum_row(dst + i * s.inner, src + outer * s.taken * s.inner, s, i - outer * s.extent)


cdef void sum_rows(void *context, int64_t begin, int64_t end) noexcept nogil:
    cdef Sums *s = <Sums *>context
    if s.dtype == MX_F32:
        sum_rows_of(<float *>s.dst, s, begin, end)
    elif s.dtype == MX_F64:
        sum_rows_of(<double *>s.dst, s, begin, end)
    elif s.dtype == MX_I64:
        sum_rows_of(<int64_t *>s.dst, s, begin, end)
    elif s.dtype == MX_I32:
        sum_rows_of(<int32_t *>s.dst, s, begin, end)
    elif s.dtype == MX_I8:
        sum_rows_of(<int8_t *>s.dst, s, begin, end)
    else:
        sum_rows_of(<uint8_t *>s.dst, s, begin, end)


cdef inline void scatter_rows_of(
    Number *dst, const Sums *s, int64_t begin, int64_t end
) noexcept nogil:
    cdef const Number *src = <const Number *>s.src
    cdef int64_t outer, i, j
    cdef Number *block
    for outer in range(begin, end):
        memset(
            dst + outer * s.extent * s.inner, 0,
            <size_t>(s.extent * s.inner) * sizeof(Number),
        )
        for i in range(s.taken):
            block = dst + (outer * s.extent + s.index[i]) * s.inner
            for j in range(s.inner):
                block[j] = block[j] + src[(outer * s.taken + i) * s.inner + j]


cdef void scatter_rows(void *context, int64_t begin, int64_t end) noexcept nogil:
    """Sum whole outer positions, reading in order, which is faster for short blocks."""
    cdef Sums *s = <Sums *>context
    if s.dtype == MX_F32:
        scatter_rows_of(<float *>s.dst, s, begin, end)
    elif s.dtype == MX_F64:
        scatter_rows_of(<double *>s.dst, s, begin, end)
    elif s.dtype == MX_I64:
        scatter_rows_of(<int64_t *>s.dst, s, begin, end)
    elif s.dtype == MX_I32:
        scatter_rows_of(<int32_t *>s.dst, s, begin, end)
    elif s.dtype == MX_I8:
        scatter_rows_of(<int8_t *>s.dst, s, begin, end)
    else:
        scatter_rows_of(<uint8_t *>s.dst, s, begin, end)


cdef int take_grad(const mx_call *call) noexcept nogil:
    cdef const mx_take_params *p = <const mx_take_params *>call.params
    cdef int64_t taken = count(&call.inputs[p.index]), i, total = 0, n
    cdef int64_t *order = <int64_t *>call.workspace + taken
    cdef int64_t *start = order + taken
    cdef const int64_t *index
    cdef mx_tensor *out = &call.outputs[0]
    cdef bint lists = p.inner >= SHORT or p.outer < 2 * call.threads
    cdef Sums s
    if lacks(call, 8 * (2 * taken + p.extent + 1) + wide_bytes(out, &call.inputs[p.data])) != 0:
        return -1
    index = load_indices(call, p.index, p.extent, p.mode)
    if index == NULL and taken:
        return -1
    if lists:  # counting sort of the positions by row
        memset(start, 0, (p.extent + 1) * sizeof(int64_t))
        for i in range(taken):
            start[index[i]] += 1
        for i in range(p.extent + 1):
            n = start[i]
            start[i] = total
            total += n
        for i in range(taken):
            order[start[index[i]]] = i
            start[index[i]] += 1
        for i in range(p.extent, 0, -1):
            start[i] = start[i - 1]
        start[0] = 0

    s.dst, s.src, s.dtype = out.data, call.inputs[p.data].data, out.dtype
    s.start, s.order, s.taken, s.extent, s.inner = start, order, taken, p.extent, p.inner
    s.index = index
    if is_half(out.dtype):  # accumulate in float32
        n = count(&call.inputs[p.data])
        s.src = start + p.extent + 1
        s.dst = <float *>s.src + n
        s.dtype = MX_F32
        convert(<void *>s.src, MX_F32, call.inputs[p.data].data, out.dtype, n, call.threads)
    if lists:
        parallel_for(call.threads, p.outer * p.extent, 1 + GRAIN // (p.inner + 1), sum_rows, &s)
    else:
        parallel_for(call.threads, p.outer, 1 + GRAIN // (taken * p.inner + 1), scatter_rows, &s)
    if is_half(out.dtype):
        convert(out.data, out.dtype, s.dst, MX_F32, count(out), call.threads)
    return 0


# --- one position for each element of the other dimensions ---------------------------------------

cdef struct Along:
    char *dst
    const char *src
    const int64_t *index
    int64_t extent, inner, taken
    int32_t dtype


cdef inline void pick_items(Item *tag, const Along *a, int64_t begin, int64_t end) noexcept nogil:
    cdef Item *dst = <Item *>a.dst
    cdef const Item *src = <const Item *>a.src
    cdef int64_t i, outer, block = a.taken * a.inner
    if block == 1:
        for i in range(begin, end):
            dst[i] = src[i * a.extent + a.index[i]]
        return
    for i in range(begin, end):
        outer = i // block
        dst[i] = src[(outer * a.extent + a.index[i]) * a.inner + i % a.inner]


cdef void pick_all(void *context, int64_t begin, int64_t end) noexcept nogil:
    cdef Along *a = <Along *>context
    cdef int bytes = item_bytes[a.dtype]
    if bytes == 4:
        pick_items[uint32_t](NULL, a, begin, end)
    elif bytes == 8:
        pick_items[uint64_t](NULL, a, begin, end)
    elif bytes == 2:
        pick_items[uint16_t](NULL, a, begin, end)
    else:
        pick_items[uint8_t](NULL, a, begin, end)


cdef int along(const mx_call *call) noexcept nogil:
    cdef const mx_along_params *p = <const mx_along_params *>call.params
    cdef const int64_t *index = load_indices(call, 1, p.extent, p.mode)
    cdef Along a
    if index == NULL and count(&call.inputs[1]):
        return -1
    a.dst, a.src = <char *>call.outputs[0].data, <const char *>call.inputs[0].data
    a.index, a.dtype = index, call.outputs[0].dtype
    a.extent, a.inner, a.taken = p.extent, p.inner, p.taken
    parallel_for(call.threads, p.outer * p.taken * p.inner, GRAIN, pick_all, &a)
    return 0


cdef inline void put_items(Number *dst, const Along *a, int64_t begin, int64_t end) noexcept nogil:
    """Write zeros and add the gradient, for the outer positions [begin, end)."""
    cdef const Number *src = <const Number *>a.src
    cdef int64_t i, outer, place, block = a.taken * a.inner, whole = a.extent * a.inner
    memset(dst + begin * whole, 0, (end - begin) * whole * sizeof(Number))
    for outer in range(begin, end):
        for i in range(outer * block, (outer + 1) * block):
            place = (outer * a.extent + a.index[i]) * a.inner + i % a.inner
            dst[place] = dst[place] + src[i]


cdef void put_all(void *context, int64_t begin, int64_t end) noexcept nogil:
    cdef Along *a = <Along *>context
    if a.dtype == MX_F32:
        put_items(<float *>a.dst, a, begin, end)
    elif a.dtype == MX_F64:
        put_items(<double *>a.dst, a, begin, end)
    elif a.dtype == MX_I64:
        put_items(<int64_t *>a.dst, a, begin, end)
    elif a.dtype == MX_I32:
        put_items(<int32_t *>a.dst, a, begin, end)
    elif a.dtype == MX_I8:
        put_items(<int8_t *>a.dst, a, begin, end)
    else:
        put_items(<uint8_t *>a.dst, a, begin, end)


cdef int along_grad(const mx_call *call) noexcept nogil:
    cdef const mx_along_params *p = <const mx_along_params *>call.params
    cdef const int64_t *index
    cdef int64_t n = count(&call.inputs[0])
    cdef mx_tensor *out = &call.outputs[0]
    cdef float *wide = <float *>call.workspace + 2 * count(&call.inputs[1])
    cdef Along a
    if lacks(call, 8 * count(&call.inputs[1]) + wide_bytes(out, &call.inputs[0])) != 0:
        return -1
    index = load_indices(call, 1, p.extent, p.mode)
    if index == NULL and count(&call.inputs[1]):
        return -1
    a.dst, a.src, a.dtype = <char *>out.data, <const char *>call.inputs[0].data, out.dtype
    a.index, a.extent, a.inner, a.taken = index, p.extent, p.inner, p.taken
    if is_half(out.dtype):
        a.src, a.dst, a.dtype = <const char *>wide, <char *>(wide + n), MX_F32
        convert(wide, MX_F32, call.inputs[0].data, out.dtype, n, call.threads)
    parallel_for(call.threads, p.outer, 1 + GRAIN // (p.extent * p.inner + 1), put_all, &a)
    if is_half(out.dtype):
        convert(out.data, out.dtype, a.dst, MX_F32, count(out), call.threads)
    return 0


#: kernels registered by this module
KERNELS = ("take", "take_grad", "along", "along_grad")

mx_kernel_add("take", take, ALL_DTYPES, 0)
mx_kernel_add("take_grad", take_grad, SUMMED_DTYPES, 0)
mx_kernel_add("along", along, ALL_DTYPES, 0)
mx_kernel_add("along_grad", along_grad, SUMMED_DTYPES, 0)
