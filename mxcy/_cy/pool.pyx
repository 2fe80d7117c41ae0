# distutils: language = c++
"""CPU memory pools: freed chunks are kept by rounded size and handed out again.

Naive rounds to pages (large sizes to a coarser step) and reuses chunks of exactly that size; Round
rounds to powers of two up to a cut-off; Unpooled keeps nothing. Free chunks form linked lists
threaded through the chunks themselves, so the pool allocates nothing of its own for small sizes.
"""
from libc.stdio cimport FILE, fclose, fgets, fopen, sscanf
from libcpp.unordered_map cimport unordered_map

from mxcy._cy.native cimport mx_alloc_hook, mx_set_alloc_hook, mx_system_alloc, mx_system_free

from mxcy.base import MXNetError

cdef extern from "<unistd.h>" nogil:
    int _SC_PAGESIZE
    int _SC_PHYS_PAGES
    long sysconf(int name)

cdef extern from "<mutex>" namespace "std" nogil:
    cdef cppclass mutex:
        void lock()
        void unlock()

cdef enum:
    NAIVE = 0
    ROUND = 1
    UNPOOLED = 2
    SMALL_LISTS = 512  # sizes up to this many pages have a list found by index

cdef size_t LARGE_MISS = 1 << 20  # only misses this big ask how much memory is free

cdef mutex guard
cdef void *small_lists[SMALL_LISTS + 1]
cdef unordered_map[size_t, void *] big_lists
cdef int strategy = NAIVE
cdef size_t page = 4096
cdef size_t large_step = 2 << 20
cdef int cutoff = 24
cdef size_t reserve_bytes = 0
cdef size_t live_bytes, pooled_bytes, peak_bytes, hits, misses, flushes


cdef size_t rounded(size_t size) noexcept nogil:
    cdef size_t bucket
    if strategy == ROUND:
        if size <= (<size_t>1 << cutoff):
            bucket = page
            while bucket < size:
                bucket <<= 1
            return bucket
        bucket = <size_t>1 << cutoff
        return (size + bucket - 1) // bucket * bucket
    size = (size + page - 1) // page * page
    if strategy == NAIVE and size > large_step:
        size = (size + large_step - 1) // large_step * large_step
    return size


cdef void **list_of(size_t size) noexcept nogil:
    cdef size_t slot = size // page
    if slot <= SMALL_LISTS and slot * page == size:
        return &small_lists[slot]
    return &big_lists[size]


cdef void drop_list(void **head) noexcept nogil:
    cdef void *chunk = head[0]
    cdef void *following
    while chunk != NULL:
        following = (<void **>chunk)[0]
        mx_system_free(chunk)
        chunk = following
    head[0] = NULL


cdef void drop_cache() noexcept nogil:
    """Give every pooled chunk back to the system; the lock is held."""
    global pooled_bytes, flushes
    cdef int i
    for i in range(SMALL_LISTS + 1):
        drop_list(&small_lists[i])
    for entry in big_lists:
        drop_list(&big_lists[entry.first])
    big_lists.clear()
    pooled_bytes = 0
    flushes += 1


cdef size_t available_memory() noexcept nogil:
    """MemAvailable of /proc/meminfo in bytes, or 0 when it cannot be read."""
    cdef char line[128]
    cdef unsigned long kilobytes = 0
    cdef FILE *file = fopen("/proc/meminfo", "r")
    if file == NULL:
        return 0
    while fgets(line, sizeof(line), file) != NULL:
        if sscanf(line, "MemAvailable: %lu", &kilobytes) == 1:
            break
    fclose(file)
    return <size_t>kilobytes * 1024


cdef void *pool_alloc(size_t size) noexcept nogil:
    """A 64-byte aligned chunk of at least `size` bytes; NULL for no bytes or no memory."""
    global live_bytes, pooled_bytes, peak_bytes, hits, misses
    cdef void **head
    cdef void *chunk
    cdef size_t free_bytes
    if size == 0:
        return NULL
    size = rounded(size)
    guard.lock()
    chunk = NULL
    if strategy != UNPOOLED:
        head = list_of(size)
        chunk = head[0]
        if chunk != NULL:
            head[0] = (<void **>chunk)[0]
            pooled_bytes -= size
            hits += 1
    if chunk == NULL:
        misses += 1
        if size >= LARGE_MISS and pooled_bytes > 0:
            free_bytes = available_memory()
            if free_bytes != 0 and (free_bytes <= size or free_bytes - size < reserve_bytes):
                drop_cache()
        chunk = mx_system_alloc(size)
        if chunk == NULL and pooled_bytes > 0:
            drop_cache()
            chunk = mx_system_alloc(size)
    if chunk != NULL:
        live_bytes += size
        if live_bytes > peak_bytes:
            peak_bytes = live_bytes
    guard.unlock()
    return chunk


cdef void pool_free(void *data, size_t size) noexcept nogil:
    """Take back a chunk that pool_alloc gave for `size` bytes."""
    global live_bytes, pooled_bytes
    cdef void **head
    if data == NULL:
        return
    size = rounded(size)
    guard.lock()
    live_bytes -= size
    if strategy == UNPOOLED:
        mx_system_free(data)
    else:
        head = list_of(size)
        (<void **>data)[0] = head[0]
        head[0] = data
        pooled_bytes += size
    guard.unlock()


def configure(str kind, size_t page_size, size_t large_round, int linear_cutoff, int reserve):
    """Set the policy once, before the first allocation.

    Parameters
    ----------
    kind : str
        ``'Naive'``, ``'Round'`` or ``'Unpooled'``.
    page_size, large_round : int
        Bytes; sizes are rounded up to the first, beyond the second to multiples of it.
    linear_cutoff : int
        log2 of the size up to which Round uses powers of two.
    reserve : int
        Percentage of the physical memory that stays free: the cache is dropped before a large
        allocation would go below it.
    """
    global strategy, page, large_step, cutoff, reserve_bytes
    cdef mx_alloc_hook hook
    if live_bytes or misses:
        raise MXNetError("the memory pool is in use already, its policy is fixed")
    strategy = {"Naive": NAIVE, "Round": ROUND, "Unpooled": UNPOOLED}[kind]
    page, large_step, cutoff = page_size, large_round, linear_cutoff
    reserve_bytes = <size_t>sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) // 100 * reserve
    hook.alloc, hook.free = pool_alloc, pool_free
    mx_set_alloc_hook(&hook)


def round_size(size_t size):
    """The bytes a request of `size` takes in the pool."""
    return rounded(size)


def empty_cache():
    """Give all pooled chunks back to the system."""
    guard.lock()
    drop_cache()
    guard.unlock()


def stats():
    """Counters of the pool: strategy, bytes live, pooled and at peak, hits, misses, flushes."""
    return {
        "strategy": ("Naive", "Round", "Unpooled")[strategy],
        "live_bytes": live_bytes,
        "pooled_bytes": pooled_bytes,
        "peak_bytes": peak_bytes,
        "hits": hits,
        "misses": misses,
        "flushes": flushes,
    }
