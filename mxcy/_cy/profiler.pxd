# The profiler (kernels/include/mxcy_profiler.h) as Cython declarations.
from libc.stdint cimport int32_t, int64_t

from mxcy._cy.native cimport mx_call, mx_kernel, mx_plan

cdef extern from "mxcy_profiler.h" nogil:
    enum:
        MX_PROFILE_SYMBOLIC
        MX_PROFILE_IMPERATIVE
        MX_PROFILE_API
        MX_PROFILE_MEMORY
        MX_PROFILE_RUNNING
        MX_EVENT_OPERATOR
        MX_EVENT_API
    ctypedef struct mx_allocation:
        int64_t bytes
        int64_t actual
        int32_t device_type
        int32_t device_id
        int32_t reused
        const char *scope
        const char *owner
    ctypedef struct mx_profile_row:
        const char *category
        const char *name
        int64_t count
        int64_t total
        int64_t least
        int64_t most
        int64_t last
        int32_t kind
    int32_t mx_profile_bits
    void mx_profile_set(int32_t bits)
    void mx_profile_limit(int64_t events)
    int32_t mx_profiled(int32_t bits)
    int32_t mx_profile_source(int32_t kind, const char *category, const char *name,
                              const char *args)
    int64_t mx_profile_now()
    void mx_profile_add(int32_t source, int64_t begin, int64_t end)
    int32_t mx_profile_inside(int32_t source)
    int64_t mx_profile_begin(int32_t bits)
    void mx_profile_end(int32_t source, int64_t begin)
    int mx_run_kernel(mx_kernel kernel, const mx_call *call, int32_t source, int32_t bits)
    void mx_plan_sources(mx_plan *plan, const int32_t *sources)
    void mx_profile_device(int32_t type, int32_t id)
    void mx_profile_alloc(int32_t device_type, int32_t device_id, const void *data, int64_t bytes,
                          int64_t actual)
    void mx_profile_free(const void *data)
    void mx_profile_scope(const char *scope)
    void mx_profile_owner(int32_t source)
    int64_t mx_profile_live(mx_allocation *rows, int64_t most)
    int mx_profile_write(int32_t fd, int32_t fresh)
    void mx_profile_count(int32_t wanted)
    int32_t mx_profile_stats(int32_t index, mx_profile_row *row)
    void mx_profile_reset()
    int64_t mx_profile_waiting()
    int64_t mx_profile_dropped()
    int64_t mx_profile_epoch()

cdef int32_t operator_source(call, str node=*) except -1
