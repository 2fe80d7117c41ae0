# Pending engine operations: mxcy_operations.h, and the references that Python keeps for them.
from libc.stdint cimport int32_t, int64_t

from mxcy._cy.engine cimport mx_operation, mx_var
from mxcy._cy.native cimport mx_call, mx_kernel, mx_plan, mx_rng
from mxcy._cy.pool cimport mx_pool

cdef extern from "mxcy_operations.h" nogil:
    int mx_push_kernel(const mx_operation *about, mx_kernel kernel, const mx_call *call,
                       size_t params_size, mx_pool *pool, int32_t source)
    int mx_push_plan(const mx_operation *about, const mx_plan *plan, int32_t first, int32_t last,
                     void **bases, int32_t nbases, void *scratch, mx_rng *rng,
                     const char **labels)
    int32_t mx_plan_here(const mx_plan *plan, int32_t first, int32_t device_type,
                         int32_t device_id)
    void mx_set_soon(int64_t microseconds)
    int mx_push_copy(const mx_operation *about, void *target, const void *source, size_t size)
    int mx_push_nothing(const mx_operation *about)


cdef struct Counts:
    int64_t newest  # token
    size_t bytes  # of memory first written by an operation, while operations use it


cdef Counts counts
cdef int64_t keep(object references, mx_var *written, bint allocates) except -1
cdef int forget(int64_t token) except -1
cdef int drain() except -1
cdef int wait(mx_var *var, int32_t access) except -1
cdef int settle(mx_var *var, int32_t access) except -1
cdef int settle_everything() except -1
