from libc.stdint cimport int32_t

from mxcy._cy.native cimport mx_rng

cdef extern from "mxcy_storage.h" nogil:
    ctypedef struct mx_pool_policy:
        int32_t strategy
        int32_t cutoff
        int32_t reserve
        size_t page
        size_t large_step
    ctypedef struct mx_pool:
        pass
    ctypedef struct mx_pool_source:
        pass
    ctypedef struct mx_pool_stats:
        size_t limit
        size_t live_bytes
        size_t pooled_bytes
        size_t peak_bytes
        size_t hits
        size_t misses
        size_t flushes
        size_t temp_bytes
        int32_t temp_copies
        int32_t temp_used
    size_t mx_pool_round(const mx_pool_policy *policy, size_t bytes)
    size_t mx_pool_bucket(const mx_pool_policy *policy, size_t bytes)
    int32_t mx_pool_must_drop(const mx_pool_policy *policy, size_t bytes, size_t free, size_t total)
    mx_pool *mx_pool_create(int32_t device_type, int32_t device_id, const mx_pool_policy *policy,
                            const mx_pool_source *source, int32_t temp_copies)
    void mx_pool_destroy(mx_pool *pool)
    void *mx_pool_take(mx_pool *pool, size_t bytes)
    void mx_pool_give(mx_pool *pool, void *data, size_t bytes)
    void mx_pool_drop(mx_pool *pool)
    void mx_pool_read_stats(mx_pool *pool, mx_pool_stats *stats)
    void *mx_temp_take(mx_pool *pool, size_t bytes, int32_t wait)
    void mx_temp_give(mx_pool *pool, void *data, size_t bytes)
    void mx_rng_for_dropout(mx_rng *rng, mx_rng *own)
    void mx_host_memory(const char *root, size_t *free, size_t *total)


cdef class Pool:
    cdef mx_pool *native
    cdef mx_pool_policy policy
    cdef readonly object context  # context of the arrays in its memory


cdef class LastPool:
    cdef Pool pool
    cdef object context  # the context it serves, possibly an alias of its own


cdef LastPool last
cdef int look_up(object context) except -1
cdef Pool pool_of(object context)
