"""The kernel of topk, sort and argsort.

Every element is mapped to an unsigned key with the requested order: NaN is largest, both zeros are
equal, and for descending order all bits are flipped. Elements of up to 32 bits are sorted as 64-bit
integers with the position below the key, others as pairs, so sorting is stable. A few of many
elements are selected without sorting the others.
"""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from mxcy._cy.native cimport (
    MX_BF16, MX_BOOL, MX_F16, MX_F32, MX_F64, MX_I8, MX_I16, MX_I32, MX_I64, MX_U16, MX_U32,
    mx_call, mx_fail, mx_kernel_add, mx_tensor,
)
from mxcy._cy.oplib.kernel cimport ALL_DTYPES, convert, item_bytes, parallel_for
from mxcy._cy.oplib.indexing_params cimport mx_order_params

cdef enum:
    INSERTION = 40  # maximum length for insertion sort
    BLOCK = 512  # elements per batch of keys
    ROOM = 64  # candidates kept while selecting few
    FEWEST = 8  # candidates kept sorted
    GRAIN = 2048  # elements per thread

cdef struct Pair:
    uint64_t key
    uint64_t position

ctypedef fused Entry:
    uint64_t  # key and position combined
    Pair

cdef struct Row:
    const char *data
    int64_t step, n  # stride; number of elements
    int32_t dtype
    bint ascending

cdef struct Order:
    const mx_call *call
    const mx_order_params *p
    uint64_t zero, one  # the bits of 0 and 1 in the data's element type
    int failed


# --- keys ----------------------------------------------------------------------------------------

cdef inline uint32_t half_key(uint16_t bits, uint32_t infinity) noexcept nogil:
    cdef uint32_t magnitude = bits & 0x7fff
    if magnitude > infinity:
        return 0xffff
    if magnitude == 0:
        return 0x8000
    return 0x8000 - magnitude if bits & 0x8000 else 0x8000 + magnitude


cdef inline uint32_t float_key(uint32_t bits) noexcept nogil:
    cdef uint32_t magnitude = bits & 0x7fffffffU
    if magnitude > 0x7f800000U:
        return 0xffffffffU
    return 0x80000000U - magnitude if bits >> 31 else 0x80000000U + magnitude


cdef inline uint64_t double_key(uint64_t bits) noexcept nogil:
    cdef uint64_t top = 1ULL << 63
    cdef uint64_t magnitude = bits & (top - 1)
    if magnitude > 0x7ff0000000000000ULL:
        return ~0ULL
    return top - magnitude if bits & top else top + magnitude


cdef void make_keys(
    uint32_t *keys, const void *row, int64_t step, int64_t n, int32_t dtype
) noexcept nogil:
    """Compute keys of elements of up to 32 bits with stride `step`."""
    cdef int64_t i
    if dtype == MX_F32:
        for i in range(n):
            keys[i] = float_key((<const uint32_t *>row)[i * step])
    elif dtype == MX_I32:
        for i in range(n):
            keys[i] = (<const uint32_t *>row)[i * step] ^ 0x80000000U
    elif dtype == MX_U32:
        for i in range(n):
            keys[i] = (<const uint32_t *>row)[i * step]
    elif dtype == MX_F16:
        for i in range(n):
            keys[i] = half_key((<const uint16_t *>row)[i * step], 0x7c00)
    elif dtype == MX_BF16:
        for i in range(n):
            keys[i] = half_key((<const uint16_t *>row)[i * step], 0x7f80)
    elif dtype == MX_I16:
        for i in range(n):
            keys[i] = (<const uint16_t *>row)[i * step] ^ 0x8000
    elif dtype == MX_U16:
        for i in range(n):
            keys[i] = (<const uint16_t *>row)[i * step]
    elif dtype == MX_I8:
        for i in range(n):
            keys[i] = (<const uint8_t *>row)[i * step] ^ 0x80
    else:
        for i in range(n):
            keys[i] = (<const uint8_t *>row)[i * step]


cdef void make_wide_keys(
    uint64_t *keys, const uint64_t *row, int64_t step, int64_t n, int32_t dtype
) noexcept nogil:
    """Compute keys of 64-bit elements."""
    cdef int64_t i
    cdef uint64_t sign = 1ULL << 63 if dtype == MX_I64 else 0
    for i in range(n):
        keys[i] = double_key(row[i * step]) if dtype == MX_F64 else row[i * step] ^ sign


cdef void make_entries(Entry *entries, const Row *row, int64_t begin, int64_t n) noexcept nogil:
    """Compute entries of the elements [begin, begin + n) of a row; n is at most BLOCK."""
    cdef uint32_t keys[BLOCK]
    cdef uint64_t wide[BLOCK]
    cdef const void *first = row.data + begin * row.step * item_bytes[row.dtype]
    cdef int64_t i
    if Entry is Pair:
        make_wide_keys(wide, <const uint64_t *>first, row.step, n, row.dtype)
        for i in range(n):
            entries[i].key = wide[i] if row.ascending else ~wide[i]
            entries[i].position = begin + i
    else:
        make_keys(keys, first, row.step, n, row.dtype)
        for i in range(n):
            keys[i] = keys[i] if row.ascending else ~keys[i]
            entries[i] = <uint64_t>keys[i] << 32 | <uint64_t>(begin + i)


# --- sorting -------------------------------------------------------------------------------------

cdef inline bint less(Entry a, Entry b) noexcept nogil:
    if Entry is Pair:
        return a.key < b.key or (a.key == b.key and a.position < b.position)
    else:
        return a < b


cdef inline uint64_t position_of(Entry entry) noexcept nogil:
    if Entry is Pair:
        return entry.position
    else:
        return entry & 0xffffffffU


cdef inline int digit(Entry entry, int number) noexcept nogil:
    """A byte of an entry, counted from the lowest of the position."""
    if Entry is Pair:
        return (entry.position >> 8 * number if number < 8 else entry.key >> 8 * (number - 8)) & 255
    else:
        return entry >> 8 * number & 255


cdef void insertion_sort(Entry *entries, int64_t n) noexcept nogil:
    cdef int64_t i, j
    cdef Entry entry
    for i in range(1, n):
        entry = entries[i]
        j = i
        while j > 0 and less(entry, entries[j - 1]):
            entries[j] = entries[j - 1]
            j -= 1
        entries[j] = entry


cdef void radix_sort(Entry *entries, Entry *scratch, int64_t n, bint in_order) noexcept nogil:
    """Sort by digits, lowest first; `in_order`: positions already ascend."""
    cdef int digits = 16 if Entry is Pair else 8
    cdef int number, d, lowest = digits // 2 if in_order else 0
    cdef uint32_t counts[16][256]
    cdef uint32_t *starts
    cdef uint32_t start, size
    cdef int64_t i
    cdef Entry entry
    cdef Entry *source = entries
    cdef Entry *target = scratch
    memset(&counts[lowest], 0, (digits - lowest) * sizeof(counts[0]))
    for i in range(n):
        entry = entries[i]
        for number in range(lowest, digits):
            counts[number][digit(entry, number)] += 1
    for number in range(lowest, digits):
        starts = counts[number]
        if starts[digit(source[0], number)] == n:
            continue
        start = 0
        for d in range(256):
            size = starts[d]
            starts[d] = start
            start += size
        for i in range(n):
            d = digit(source[i], number)
            target[starts[d]] = source[i]
            starts[d] += 1
        source, target = target, source
    if source != entries:
        memcpy(entries, source, n * sizeof(Entry))


cdef void select(Entry *entries, int64_t n, int64_t k) noexcept nogil:
    """Move the k smallest entries to the front, the largest of them last."""
    cdef int64_t low = 0, high = n - 1, i, j
    cdef Entry a, b, c, pivot
    while low < high:
        a, b, c = entries[low], entries[(low + high) // 2], entries[high]
        if less(b, a):
            a, b = b, a
        pivot = a if less(c, a) else c if less(c, b) else b
        i, j = low, high
        while i <= j:
            while less(entries[i], pivot):
                i += 1
            while less(pivot, entries[j]):
                j -= 1
            if i <= j:
                a = entries[i]
                entries[i] = entries[j]
                entries[j] = a
                i += 1
                j -= 1
        if k - 1 <= j:
            high = j
        elif k - 1 >= i:
            low = i
        else:
            return


cdef void keep_first(Entry *entries, const Row *row, int64_t taken) noexcept nogil:
    """Write the few first entries of a row in order, keeping them sorted throughout."""
    cdef int64_t number, begin, i, j, n, kept = 0
    cdef Entry block[BLOCK]
    for number in range((row.n + BLOCK - 1) // BLOCK):
        begin = number * BLOCK
        n = min(row.n - begin, <int64_t>BLOCK)
        make_entries(<Entry *>block, row, begin, n)
        for i in range(n):
            if kept == taken and not less(block[i], entries[taken - 1]):
                continue
            kept = min(kept + 1, taken)
            j = kept - 1
            while j > 0 and less(block[i], entries[j - 1]):
                entries[j] = entries[j - 1]
                j -= 1
            entries[j] = block[i]


cdef void sort_first(Entry *entries, Entry *scratch, const Row *row, int64_t taken) noexcept nogil:
    """Write the `taken` first entries of a row in order; both buffers hold room_for() entries."""
    cdef int64_t number, begin, i, n, kept = 0, room = room_for(row.n, taken)
    cdef Entry block[BLOCK]
    cdef Entry limit
    cdef bint full = False
    if taken <= FEWEST and taken < row.n:
        keep_first(entries, row, taken)
        return
    for number in range((row.n + BLOCK - 1) // BLOCK):
        begin = number * BLOCK
        n = min(row.n - begin, <int64_t>BLOCK)
        if room == row.n:
            make_entries(entries + begin, row, begin, n)
            continue
        make_entries(<Entry *>block, row, begin, n)
        for i in range(n):
            if full and not less(block[i], limit):
                continue
            entries[kept] = block[i]
            kept += 1
            if kept == room:
                select(entries, room, taken)
                limit = entries[taken - 1]
                kept, full = taken, True
    if room == row.n:
        kept = row.n
    if taken < kept:
        select(entries, kept, taken)
    if taken <= INSERTION:
        insertion_sort(entries, taken)
    else:
        radix_sort(entries, scratch, taken, taken == row.n)


cdef inline int64_t room_for(int64_t n, int64_t taken) noexcept nogil:
    """The number of entries to keep while selecting the first `taken` of n."""
    return min(n, max(4 * taken, <int64_t>ROOM))


# --- rows ----------------------------------------------------------------------------------------

cdef inline void put_item(char *dst, const char *src, int bytes) noexcept nogil:
    if bytes == 4:
        (<uint32_t *>dst)[0] = (<const uint32_t *>src)[0]
    elif bytes == 8:
        (<uint64_t *>dst)[0] = (<const uint64_t *>src)[0]
    elif bytes == 2:
        (<uint16_t *>dst)[0] = (<const uint16_t *>src)[0]
    else:
        dst[0] = src[0]


cdef void write_row(
    const Order *o, const Row *row, int64_t number, const int64_t *chosen, char *converted
) noexcept nogil:
    """Write the values, indices or mask of one row from the positions of its first elements."""
    cdef const mx_order_params *p = o.p
    cdef int64_t outer = number // p.inner, j
    cdef int64_t first = outer * p.taken * p.inner + number % p.inner
    cdef int64_t base = outer * p.extent * p.inner + number % p.inner
    cdef int bytes = item_bytes[row.dtype], index_bytes
    cdef const mx_tensor *out
    if p.values >= 0:
        out = &o.call.outputs[p.values]
        for j in range(p.taken):
            put_item(
                <char *>out.data + (first + j * p.inner) * bytes,
                row.data + chosen[j] * row.step * bytes,
                bytes,
            )
    if p.mask >= 0:
        out = &o.call.outputs[p.mask]
        if p.inner == 1:
            memset(<char *>out.data + base * bytes, 0, <size_t>(p.extent * bytes))
        else:
            for j in range(p.extent):
                put_item(
                    <char *>out.data + (base + j * p.inner) * bytes, <const char *>&o.zero, bytes
                )
        for j in range(p.taken):
            put_item(
                <char *>out.data + (base + chosen[j] * p.inner) * bytes, <const char *>&o.one, bytes
            )
    if p.indices >= 0:
        out = &o.call.outputs[p.indices]
        index_bytes = item_bytes[out.dtype]
        if p.inner == 1:
            converted = <char *>out.data + first * index_bytes
        convert(converted, out.dtype, chosen, MX_I64, p.taken, 1)
        if p.inner > 1:
            for j in range(p.taken):
                put_item(
                    <char *>out.data + (first + j * p.inner) * index_bytes,
                    converted + j * index_bytes,
                    index_bytes,
                )


cdef void order_rows_of(Entry *entries, Order *o, int64_t begin, int64_t end) noexcept nogil:
    cdef const mx_order_params *p = o.p
    cdef const mx_tensor *data = &o.call.inputs[0]
    cdef int64_t room = room_for(p.extent, p.taken), number, j
    cdef Entry *scratch = entries + room
    cdef int64_t *chosen = <int64_t *>(scratch + room)
    cdef Row row
    row.step, row.n, row.dtype, row.ascending = p.inner, p.extent, data.dtype, p.ascending
    for number in range(begin, end):
        row.data = <const char *>data.data + item_bytes[data.dtype] * (
            number // p.inner * p.extent * p.inner + number % p.inner
        )
        sort_first(entries, scratch, &row, p.taken)
        for j in range(p.taken):
            chosen[j] = position_of(entries[j])
        write_row(o, &row, number, chosen, <char *>(chosen + p.taken))


cdef void order_rows(void *context, int64_t begin, int64_t end) noexcept nogil:
    cdef Order *o = <Order *>context
    cdef bint wide = item_bytes[o.call.inputs[0].dtype] == 8
    cdef int64_t entry = sizeof(Pair) if wide else sizeof(uint64_t)
    cdef void *memory = malloc(
        2 * room_for(o.p.extent, o.p.taken) * entry + 16 * o.p.taken
    )
    if memory == NULL:
        o.failed = 1
    elif wide:
        order_rows_of(<Pair *>memory, o, begin, end)
    else:
        order_rows_of(<uint64_t *>memory, o, begin, end)
    free(memory)


cdef int order(const mx_call *call) noexcept nogil:
    cdef const mx_order_params *p = <const mx_order_params *>call.params
    cdef double one = 1
    cdef Order o
    if p.outer * p.inner == 0 or p.extent == 0:
        return 0
    o.call, o.p, o.failed, o.zero, o.one = call, p, 0, 0, 0
    convert(&o.one, call.inputs[0].dtype, &one, MX_F64, 1, 1)
    parallel_for(call.threads, p.outer * p.inner, 1 + GRAIN // p.extent, order_rows, &o)
    return mx_fail("out of memory") if o.failed else 0


#: kernels registered by this module
KERNELS = ("order",)

mx_kernel_add("order", order, ALL_DTYPES & ~(1 << MX_BOOL), 0)
