# Declarations of the engine (kernels/include/mxcy_engine.h), and interruptible waits.
from libc.stdint cimport int32_t, int64_t

cdef extern from "mxcy_engine.h" nogil:
    ctypedef struct mx_var:
        pass
    mx_var *mx_var_create()
    void mx_var_destroy(mx_var *var)
    int32_t mx_var_idle(const mx_var *var)
    int32_t mx_var_readable(const mx_var *var)
    int32_t mx_var_failed(mx_var *var)
    int64_t mx_var_version(const mx_var *var)
    enum:
        MX_READS
        MX_WRITES
    enum:
        MX_OP_NORMAL
        MX_OP_COPY_FROM
        MX_OP_COPY_TO
        MX_OP_PRIORITIZED
        MX_OP_ASYNC
        MX_OP_NOSKIP
    ctypedef struct mx_operation:
        int (*run)(void *payload) noexcept nogil
        void (*skipped)(void *payload) noexcept nogil
        void *payload
        void (*release)(void *payload) noexcept nogil
        int64_t token
        const char *name
        const char *place
        mx_var **vars
        const int32_t *access
        int32_t nvars
        int32_t device_type
        int32_t device_id
        int32_t property "property"
        int32_t priority
    int mx_engine_push(const mx_operation *operation)
    ctypedef struct mx_ticket:
        pass
    mx_ticket *mx_engine_ticket()
    void mx_engine_complete(mx_ticket *ticket, const char *error)
    int mx_engine_enter(mx_var **vars, const int32_t *access, int32_t n, int32_t limit)
    void mx_engine_leave(mx_var **vars, const int32_t *access, int32_t n, const char *error)
    int32_t mx_engine_done(int64_t *tokens, int32_t most)
    int mx_engine_wait(mx_var *var, int32_t access, int32_t limit)
    int mx_engine_settle(mx_var *var, int32_t access, int32_t limit)
    int mx_engine_wait_all(int32_t limit)
    int32_t mx_engine_set_bulk(int32_t size)
    void mx_engine_flush()
    void mx_engine_allow_bulk(int32_t allow)
    enum:
        MX_NAIVE_ENGINE
        MX_THREADED_ENGINE
        MX_THREADED_PER_DEVICE
    ctypedef struct mx_engine_settings:
        int32_t type
        int32_t workers
        int32_t priority_workers
        int32_t gpu_workers
        int32_t gpu_copy_workers
        int32_t info
    int mx_engine_configure(const mx_engine_settings *settings)
    ctypedef struct mx_engine_counts:
        mx_engine_settings settings
        int32_t threads
        int64_t pushed
        int64_t run
        int64_t skipped
        int64_t failed
        int64_t pending
        int64_t inlined
        int64_t bulks
        int64_t bulked
        int64_t errors
    void mx_engine_stats(mx_engine_counts *counts)
    int32_t mx_engine_queue(int32_t index, char *name, int32_t *threads, int64_t *run)
    int mx_engine_stop(int32_t limit)
    void mx_engine_start(int32_t child)
    int32_t mx_engine_on_worker()


cdef bint is_naive() noexcept  # whether operations run synchronously
cdef int raise_stored() except -1  # raise mx_last_error as an exception
# Called with the GIL, which they release; errors of the engine are raised.
cdef int wait_var(mx_var *var, int32_t access) except -1
cdef int raise_kept(mx_var *var) except -1
cdef int settle_var(mx_var *var, int32_t access) except -1
cdef int wait_everything() except -1
