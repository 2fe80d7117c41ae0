# The kernel ABI (kernels/include/mxcy.h) as Cython declarations.
from libc.stdint cimport int32_t, int64_t, uint32_t

cdef extern from "mxcy.h" nogil:
    ctypedef struct mx_rng:
        pass
    ctypedef struct mx_tensor:
        void *data
        const int64_t *shape
        const int64_t *strides
        int32_t ndim
        int32_t dtype
    ctypedef struct mx_call:
        int32_t nin
        int32_t nout
        const mx_tensor *inputs "in"
        mx_tensor *outputs "out"
        const int32_t *req
        const void *params
        void *workspace
        size_t workspace_size
        mx_rng *rng
        int32_t threads
        void *state
    ctypedef int (*mx_kernel)(const mx_call *)
    enum:
        MX_NULL
        MX_WRITE
        MX_INPLACE
        MX_ADD
        MX_TAKES_ADD
        MX_SERIAL
    enum:
        MX_F32
        MX_F64
        MX_F16
        MX_U8
        MX_I32
        MX_I8
        MX_I64
        MX_BOOL
        MX_I16
        MX_U16
        MX_U32
        MX_U64
        MX_BF16
    int mx_init(int32_t isa, int32_t threads, int64_t parallel_size)
    int32_t mx_isa()
    const char *mx_last_error()
    int mx_fail(const char *format, ...)
    int mx_kernel_add(const char *name, mx_kernel fn, uint32_t dtypes, uint32_t flags)
    mx_kernel mx_kernel_find(const char *name, int32_t dtype, uint32_t *flags)
    ctypedef struct mx_kernel_extra:
        int (*make)(const mx_call *, void **state)
        void (*drop)(void *state)
        int64_t (*query)(const mx_call *, int32_t what)
    const mx_kernel_extra *mx_kernel_extra_of(const char *name)
    int64_t mx_kernel_query(const char *name, const mx_call *call, int32_t what)
    int64_t mx_kernel_time(const char *name, int32_t dtype, const mx_call *call, int64_t budget)
    ctypedef struct mx_plan:
        pass
    ctypedef struct mx_place:
        int32_t base
        int32_t dtype
        int32_t ndim
        int64_t offset
        const int64_t *shape
    ctypedef struct mx_step:
        const char *kernel
        int32_t dtype
        int32_t nin
        int32_t nout
        const int32_t *places
        const int32_t *req
        const void *params
        size_t params_size
        size_t workspace
        int32_t threads
    mx_plan *mx_plan_create(int32_t nplaces, const mx_place *places, int32_t nsteps,
                            const mx_step *steps)
    void mx_plan_destroy(mx_plan *plan)
    size_t mx_plan_scratch(const mx_plan *plan)
    int mx_plan_run(const mx_plan *plan, int32_t first, int32_t last, void **bases, void *scratch,
                    mx_rng *rng, int32_t *failed)
    void *mx_system_alloc(size_t bytes)
    void mx_system_free(void *data)
    int32_t mx_threads()
    void mx_set_threads(int32_t threads)
    int32_t mx_threads_for(int64_t work)
    int32_t mx_threads_up_to(int32_t most)
    mx_rng *mx_rng_create(int32_t copies)
    void mx_rng_destroy(mx_rng *rng)
    void mx_rng_seed(mx_rng *rng, uint32_t device, uint32_t seed)
    int64_t mx_rng_save(mx_rng *rng, void *data, int64_t size)
    int mx_rng_restore(mx_rng *rng, const void *data, int64_t size)

cdef extern from "mxcy_tuning.h" nogil:
    double mx_region_time(int32_t threads, int64_t budget)
    int mx_kernel_race(const char *name, int32_t dtype, const mx_call *call, int32_t team,
                       int64_t budget, double *times)
    int64_t mx_second_cache()

cdef extern from "mxcy_gpu.h" nogil:
    int mx_gpu_wait(int32_t device)
    int mx_gpu_wait_all()
    ctypedef struct mx_gpu_graphs:
        pass
    int mx_gpu_graphs_run(mx_gpu_graphs *graphs, const mx_plan *plan, int32_t first, int32_t last,
                          void **bases, void *scratch, mx_rng *rng, int32_t *failed)
    int mx_gpu_settle(int32_t device, const void *memory, int32_t writes)
