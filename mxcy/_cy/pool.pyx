"""Memory pools: the interface of kernels/core/memory/pool.h, and each context's pool."""

cimport cython

from mxcy._cy.native cimport mx_last_error
from mxcy._cy.services cimport services

from mxcy._base.errors import MXNetError

cdef tuple STRATEGIES = ("Naive", "Round", "Unpooled")


@cython.final
cdef class Pool:
    """The memory pool of a device.

    Parameters
    ----------
    strategy : {'Naive', 'Round', 'Unpooled'}
        Strategy for rounding sizes and caching freed memory; see mxcy_storage.h.
    page, large : int
        Sizes are rounded up to multiples of `page` and, with Naive, of `large` above that.
    cutoff : int
        log2 of the size up to which Round uses powers of two.
    reserve : int
        Percentage of the device's memory that should stay free.
    temp : int, default 1
        Maximum number of operators that use temporary space concurrently.
    context : Context, optional
        The device; by default ``cpu(0)``.
    source : int, default 0
        The address of an ``mx_pool_source``, or 0 for host memory.
    """

    def __cinit__(self, str strategy, size_t page, size_t large, int cutoff, int reserve,
                  int temp=1, context=None, size_t source=0):
        cdef int device = 1, number = 0
        if context is not None:
            device, number = context.device_typeid, context.device_id
        self.context = context
        self.policy.strategy = STRATEGIES.index(strategy)
        self.policy.page, self.policy.large_step = page, large
        self.policy.cutoff, self.policy.reserve = cutoff, reserve
        self.native = mx_pool_create(device, number, &self.policy, <mx_pool_source *>source,
                                     temp)
        if self.native == NULL:
            raise MXNetError(mx_last_error().decode())

    def __dealloc__(self):
        if self.native != NULL:
            mx_pool_destroy(self.native)

    def round_size(self, size_t size):
        """The rounded size in bytes of a request of `size`."""
        return mx_pool_round(&self.policy, size)

    def bucket(self, size_t size):
        """The bucket for freed memory of a request of `size`."""
        return mx_pool_bucket(&self.policy, size)

    def must_drop(self, size_t size, size_t free, size_t total):
        """Whether all cached memory must be released before `size` more bytes are allocated."""
        return mx_pool_must_drop(&self.policy, mx_pool_round(&self.policy, size), free, total) != 0

    def take(self, size_t size):
        """Allocate `size` bytes; return the address."""
        cdef void *data = mx_pool_take(self.native, size)
        if data == NULL and size:
            raise MXNetError(mx_last_error().decode())
        return <size_t>data

    def give(self, size_t address, size_t size):
        """Free the memory that `take` returned for `size` bytes."""
        mx_pool_give(self.native, <void *>address, size)

    def take_temp(self, size_t size):
        """Allocate `size` bytes of temporary space, to be freed by `give_temp`."""
        cdef void *data
        with nogil:  # until a buffer is freed
            data = mx_temp_take(self.native, size, 1)
        if data == NULL:
            raise MXNetError(mx_last_error().decode())
        return <size_t>data

    def give_temp(self, size_t address, size_t size):
        """Free the memory that `take_temp` returned."""
        mx_temp_give(self.native, <void *>address, size)

    def drop(self):
        """Release all cached memory to the system."""
        with nogil:
            mx_pool_drop(self.native)

    def stats(self):
        """The policy and the counters, as a dict."""
        cdef mx_pool_stats now
        mx_pool_read_stats(self.native, &now)
        return {
            "strategy": STRATEGIES[self.policy.strategy],
            "page": self.policy.page,
            "large": self.policy.large_step,
            "cutoff": self.policy.cutoff,
            "limit": now.limit,
            "live_bytes": now.live_bytes,
            "pooled_bytes": now.pooled_bytes,
            "peak_bytes": now.peak_bytes,
            "hits": now.hits,
            "misses": now.misses,
            "flushes": now.flushes,
        }

    def temp_stats(self):
        """Statistics of temporary space: maximum and current number of buffers, their size."""
        cdef mx_pool_stats now
        mx_pool_read_stats(self.native, &now)
        return now.temp_copies, now.temp_used, now.temp_bytes


@cython.final
cdef class LastPool:
    """The most recently used pool."""


cdef LastPool last = LastPool.__new__(LastPool)


cdef int look_up(object context) except -1:
    """Set `last` to the pool of a context."""
    last.pool = services.pool_of(context)
    last.context = context
    return 0


cdef Pool pool_of(object context):
    """Return the pool of a context."""
    if last.pool is None or (context is not last.pool.context and context is not last.context):
        look_up(context)
    return last.pool


def host_memory(str root=""):
    """(free, total) bytes of this machine for this process; /proc and /sys are below `root`."""
    cdef size_t available, total
    mx_host_memory(root.encode(), &available, &total)
    return available, total
