/* mxcy.h: the kernel ABI. Both fronts see it and the mxcy_*.h beside it, and nothing else.
 *
 * A kernel is a C function that reads tensors, writes tensors, never throws and never takes the
 * Python lock. Fronts find kernels by name and element type, fill an mx_call and run it.
 */
#ifndef MXCY_H_
#define MXCY_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MX_ABI_VERSION 1
#define MX_API __attribute__((visibility("default")))

/* Element types; the numbers are those of MXNet's files (see dtypes.def). */
enum {
#define MX_DTYPE(name, code, bytes) MX_##name = code,
#include "dtypes.def"
#undef MX_DTYPE
  MX_DTYPE_COUNT = 15,
  MX_REAL_COUNT = 13, /* the complex types come behind them; few kernels know these */
  MX_REAL_DTYPES = (1 << MX_REAL_COUNT) - 1
};

/* What to do with an output; the numbers are MXNet's, whose 2 (write in place) is never used. */
enum { MX_NULL = 0, MX_WRITE = 1, MX_ADD = 3 };

/* The kernel flag: it handles req == MX_ADD itself; otherwise the caller adds a temporary. */
enum { MX_TAKES_ADD = 1 };

/* Every tensor is C-contiguous when strides is NULL; strides count elements. */
typedef struct mx_tensor {
  void* data;
  const int64_t *shape, *strides;
  int32_t ndim, dtype;
} mx_tensor;

typedef struct mx_rng mx_rng; /* the random streams of one device, see core/random/rng.h */

typedef struct mx_call {
  int32_t nin, nout;
  const mx_tensor* in;
  mx_tensor* out;
  const int32_t* req; /* one per output */
  const void* params; /* a struct of kernels/params, or NULL */
  void* workspace;    /* 64-byte aligned scratch, uninitialised */
  size_t workspace_size;
  mx_rng* rng;
  int32_t threads; /* 1 or N, decided by the caller */
  void* state;     /* what the kernel's mx_kernel_extra.make made for this signature, or NULL */
} mx_call;

typedef int (*mx_kernel)(const mx_call*); /* 0, or -1 with the text in mx_last_error() */

/* The most dimensions of a tensor. */
#define MX_MAX_DIM 32

/* --- library ------------------------------------------------------------------------------- */
/* Prepare the library once: isa 0 = best of this CPU, else 2, 3 or 4 (x86-64-v2/v3/v4; on
 * AArch64 there is 2 alone, for NEON);
 * threads = size of the parallel team; parallel_size = MXNET_CPU_PARALLEL_SIZE. */
MX_API int mx_init(int32_t isa, int32_t threads, int64_t parallel_size);
MX_API int32_t mx_abi_version(void);
MX_API int32_t mx_isa(void); /* the level in use */
MX_API const char* mx_last_error(void);
MX_API int mx_fail(const char* format, ...) __attribute__((format(printf, 1, 2)));

/* --- kernel table -------------------------------------------------------------------------- */
MX_API int mx_kernel_add(const char* name, mx_kernel fn, uint32_t dtypes, uint32_t flags);
MX_API mx_kernel mx_kernel_find(const char* name, int32_t dtype,
                                uint32_t* flags); /* NULL if none */

/* Kernels that prepare something once per signature (a oneDNN primitive) tell of it here. These
 * functions read shapes, element types and params only: data pointers may be NULL. */
enum {
  MX_QUERY_ACCEPTS = 0,   /* 1, or 0 with the reason as error text */
  MX_QUERY_WORKSPACE = 1, /* bytes of workspace */
  MX_QUERY_PACKED = 2,    /* bytes of the weights in the kernel's own layout */
  MX_QUERY_FORMAT = 3     /* a number of that layout: calls with equal numbers may share weights */
};
typedef struct mx_kernel_extra {
  int (*make)(const mx_call*, void** state); /* a plan calls it once per step; may be NULL */
  void (*drop)(void* state);
  int64_t (*query)(const mx_call*, int32_t what); /* -1 with an error text; may be NULL */
} mx_kernel_extra;
MX_API int mx_kernel_extend(const char* name, const mx_kernel_extra* extra);
MX_API const mx_kernel_extra* mx_kernel_extra_of(const char* name); /* NULL if none */
/* Kernels without an answer of their own accept everything and need no workspace. */
MX_API int64_t mx_kernel_query(const char* name, const mx_call* call, int32_t what);
/* Nanoseconds that a kernel takes on memory of this function's own: the least of some runs within
 * about `budget` nanoseconds; -1 with an error text. */
MX_API int64_t mx_kernel_time(const char* name, int32_t dtype, const mx_call* call, int64_t budget);

/* --- plans ---------------------------------------------------------------------------------- */
/* A plan is a list of kernel calls on places: tensors at an offset from one of some base addresses,
 * which are given when it runs. Plans are never changed, so threads may run one at the same time.
 */
typedef struct mx_plan mx_plan;
typedef struct mx_place {
  int32_t base; /* number of a base address */
  int32_t dtype, ndim;
  int64_t offset; /* bytes from there */
  const int64_t* shape;
} mx_place;
typedef struct mx_step {
  const char* kernel; /* NULL: a step that the caller runs itself */
  int32_t dtype;      /* under which the kernel is found */
  int32_t nin, nout;
  const int32_t* places; /* numbers of the inputs' places, then of the outputs' */
  const int32_t* req;    /* one per output */
  const void* params;
  size_t params_size, workspace;
  int32_t threads; /* the most it may use */
} mx_step;
/* Copies everything and makes the kernels' states; NULL with an error text. */
MX_API mx_plan* mx_plan_create(int32_t nplaces, const mx_place* places, int32_t nsteps,
                               const mx_step* steps);
MX_API void mx_plan_destroy(mx_plan* plan);
/* Bytes that a run needs besides the places. */
MX_API size_t mx_plan_scratch(const mx_plan* plan);
/* Run steps first <= i < last. scratch: mx_plan_scratch bytes, 64-byte aligned. After a failure
 * *failed is the number of the step. */
MX_API int mx_plan_run(const mx_plan* plan, int32_t first, int32_t last, void* const* bases,
                       void* scratch, mx_rng* rng, int32_t* failed);

/* --- memory -------------------------------------------------------------------------------- */
/* Memory outside the pools of mxcy_storage.h: 64-byte aligned; NULL for 0 bytes or an error. */
MX_API void* mx_system_alloc(size_t bytes);
MX_API void mx_system_free(void* data);

/* --- random streams ------------------------------------------------------------------------ */
/* Streams equal to those of MXNet 1.9.1 on a CPU. copies: MXNET_CPU_PARALLEL_RAND_COPY, normally 1.
 * Unseeded streams are those of seed 0. Kernels lock the streams, so calls may run concurrently. */
MX_API mx_rng* mx_rng_create(int32_t copies); /* NULL with an error text */
MX_API void mx_rng_destroy(mx_rng* rng);
MX_API void mx_rng_seed(mx_rng* rng, uint32_t device, uint32_t seed);
/* Bytes of the whole state. data NULL: only return how many are needed; -1 if size is less. */
MX_API int64_t mx_rng_save(mx_rng* rng, void* data, int64_t size);
MX_API int mx_rng_restore(mx_rng* rng, const void* data, int64_t size);

/* --- threads ------------------------------------------------------------------------------- */
MX_API int32_t mx_threads(void); /* N, the team size */
MX_API void mx_set_threads(int32_t threads);
MX_API int64_t mx_parallel_size(void);
MX_API void mx_set_parallel_size(int64_t elements);
/* 1 or N, for an operator that touches `work` elements. A plain branch. */
MX_API int32_t mx_threads_for(int64_t work);
/* The calling thread's team, or `most` where that is less. */
MX_API int32_t mx_threads_up_to(int32_t most);

/* --- oneDNN -------------------------------------------------------------------------------- */
/* Files to try in turn, separated by colons, when a kernel whose name says onednn is looked for or
 * a very large matrix product comes; kernels of oneDNN are in the table once one is open. */
MX_API void mx_onednn_offer(const char* paths);
MX_API int mx_onednn_open(const char* path); /* open this one now */
/* The version in use, opening what is on offer; "" with an error text when there is none. */
MX_API const char* mx_onednn_version(void);
/* The primitives kept for reuse: how many at most, -1 for as many as 256 MB hold. */
MX_API void mx_onednn_cache_limit(int64_t entries);
/* Entries, bytes (estimated), hits, misses, evictions, most entries. */
MX_API void mx_onednn_cache_stats(int64_t* six);

/* --- BLAS ---------------------------------------------------------------------------------- */
/* Open OpenBLAS (a CBLAS) for very large matrix products where there is no oneDNN; NULL: back to
 * the library's own. */
MX_API int mx_blas_open(const char* path);
/* The same when the first such product comes; a file that is none is then ignored. */
MX_API void mx_blas_offer(const char* path);
MX_API const char* mx_blas_name(void); /* what has been opened: "onednn", "openblas" or "" */

#ifdef __cplusplus
}
#endif
#endif /* MXCY_H_ */
