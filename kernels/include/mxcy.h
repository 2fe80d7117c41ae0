/* mxcy.h: the kernel ABI, which both fronts use together with the mxcy_*.h next to it.
 *
 * A kernel is a C function that reads tensors, writes tensors, never throws and never takes the
 * GIL. Fronts look up kernels by name and dtype, fill in an mx_call and run it. */
#ifndef MXCY_H_
#define MXCY_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MX_ABI_VERSION 1
#define MX_API __attribute__((visibility("default")))

/* Dtypes, with the codes of MXNet's file formats (see dtypes.def). */
enum {
#define MX_DTYPE(name, code, bytes) MX_##name = code,
#include "dtypes.def"
#undef MX_DTYPE
  MX_DTYPE_COUNT = 15,
  MX_REAL_COUNT = 13, /* the complex dtypes follow; few kernels support them */
  MX_REAL_DTYPES = (1 << MX_REAL_COUNT) - 1
};

/* How to store an output, with MXNet's codes; its 2 (write in place) is not used. */
enum { MX_NULL = 0, MX_WRITE = 1, MX_ADD = 3 };

/* Kernel flag: handles req == MX_ADD itself; otherwise the caller adds a temporary. */
enum { MX_TAKES_ADD = 1 };

/* C-contiguous if strides is NULL; strides count elements. */
typedef struct mx_tensor {
  void* data;
  const int64_t *shape, *strides;
  int32_t ndim, dtype;
} mx_tensor;

typedef struct mx_rng mx_rng; /* random streams of one device, see core/random/rng.h */

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
  void* state;     /* created by the kernel's mx_kernel_extra.make for this signature, or NULL */
} mx_call;

typedef int (*mx_kernel)(const mx_call*); /* 0, or -1 with the text in mx_last_error() */

/* The maximum number of dimensions. */
#define MX_MAX_DIM 32

/* --- library ------------------------------------------------------------------------------- */
/* Initialise the library. isa: 0 = best for this CPU, else 2, 3 or 4 (x86-64-v2/v3/v4; AArch64 only
 * has 2, for NEON); threads: size of the parallel team; parallel_size: MXNET_CPU_PARALLEL_SIZE. */
MX_API int mx_init(int32_t isa, int32_t threads, int64_t parallel_size);
MX_API int32_t mx_abi_version(void);
MX_API int32_t mx_isa(void); /* the level in use */
MX_API const char* mx_last_error(void);
MX_API int mx_fail(const char* format, ...) __attribute__((format(printf, 1, 2)));

/* --- kernel table -------------------------------------------------------------------------- */
MX_API int mx_kernel_add(const char* name, mx_kernel fn, uint32_t dtypes, uint32_t flags);
MX_API mx_kernel mx_kernel_find(const char* name, int32_t dtype,
                                uint32_t* flags); /* NULL if none */

/* Optional functions of kernels that prepare something once per signature, such as a oneDNN
 * primitive. They read only shapes, dtypes and params: data pointers may be NULL. */
enum {
  MX_QUERY_ACCEPTS = 0,   /* 1, or 0 with the reason as error text */
  MX_QUERY_WORKSPACE = 1, /* bytes of workspace */
  MX_QUERY_PACKED = 2,    /* bytes of the weights in the kernel's own layout */
  MX_QUERY_FORMAT = 3     /* id of that layout: calls with equal ids may share weights */
};
typedef struct mx_kernel_extra {
  int (*make)(const mx_call*, void** state); /* called by a plan once per step; may be NULL */
  void (*drop)(void* state);
  int64_t (*query)(const mx_call*, int32_t what); /* -1 with an error text; may be NULL */
} mx_kernel_extra;
MX_API int mx_kernel_extend(const char* name, const mx_kernel_extra* extra);
MX_API const mx_kernel_extra* mx_kernel_extra_of(const char* name); /* NULL if none */
/* Kernels without a query of their own accept everything and need no workspace. */
MX_API int64_t mx_kernel_query(const char* name, const mx_call* call, int32_t what);
/* Nanoseconds a kernel takes on memory allocated here: the minimum of several runs within about
 * `budget` nanoseconds; -1 with an error text. */
MX_API int64_t mx_kernel_time(const char* name, int32_t dtype, const mx_call* call, int64_t budget);

/* --- plans ---------------------------------------------------------------------------------- */
/* A plan is a list of kernel calls on places: tensors at offsets from base addresses that are given
 * when it runs. Plans are immutable, so several threads may run one at the same time. */
typedef struct mx_plan mx_plan;
typedef struct mx_place {
  int32_t base; /* index of a base address */
  int32_t dtype, ndim;
  int64_t offset; /* in bytes */
  const int64_t* shape;
} mx_place;
typedef struct mx_step {
  const char* kernel; /* NULL: a step that the caller runs itself */
  int32_t dtype;      /* for the lookup of the kernel */
  int32_t nin, nout;
  const int32_t* places; /* indices of the inputs' places, then of the outputs' */
  const int32_t* req;    /* one per output */
  const void* params;
  size_t params_size, workspace;
  int32_t threads; /* upper limit */
} mx_step;
/* Copies its arguments and creates the kernels' states; NULL with an error text. */
MX_API mx_plan* mx_plan_create(int32_t nplaces, const mx_place* places, int32_t nsteps,
                               const mx_step* steps);
MX_API void mx_plan_destroy(mx_plan* plan);
/* Bytes of scratch memory that a run needs in addition to the places. */
MX_API size_t mx_plan_scratch(const mx_plan* plan);
/* Run steps first <= i < last. scratch: mx_plan_scratch bytes, 64-byte aligned. On failure *failed
 * is the index of the step. */
MX_API int mx_plan_run(const mx_plan* plan, int32_t first, int32_t last, void* const* bases,
                       void* scratch, mx_rng* rng, int32_t* failed);

/* --- memory -------------------------------------------------------------------------------- */
/* Memory outside the pools of mxcy_storage.h: 64-byte aligned; NULL for 0 bytes or an error. */
MX_API void* mx_system_alloc(size_t bytes);
MX_API void mx_system_free(void* data);

/* --- random streams ------------------------------------------------------------------------ */
/* Streams identical to those of MXNet 1.9.1 on a CPU. copies: MXNET_CPU_PARALLEL_RAND_COPY,
 * normally 1. Unseeded streams have seed 0. Kernels lock the streams, so calls may run
 * concurrently. */
MX_API mx_rng* mx_rng_create(int32_t copies); /* NULL with an error text */
MX_API void mx_rng_destroy(mx_rng* rng);
MX_API void mx_rng_seed(mx_rng* rng, uint32_t device, uint32_t seed);
/* Save the whole state. Returns its size in bytes; only that if data is NULL; -1 if size is too
 * small. */
MX_API int64_t mx_rng_save(mx_rng* rng, void* data, int64_t size);
MX_API int mx_rng_restore(mx_rng* rng, const void* data, int64_t size);

/* --- threads ------------------------------------------------------------------------------- */
MX_API int32_t mx_threads(void); /* N, the team size */
MX_API void mx_set_threads(int32_t threads);
MX_API int64_t mx_parallel_size(void);
MX_API void mx_set_parallel_size(int64_t elements);
/* 1 or N, for an operator that processes `work` elements; a plain branch. */
MX_API int32_t mx_threads_for(int64_t work);
/* The size of the calling thread's team, at most `most`. */
MX_API int32_t mx_threads_up_to(int32_t most);

/* --- oneDNN -------------------------------------------------------------------------------- */
/* Colon-separated files to try when a kernel whose name contains "onednn" or a very large matrix
 * product is first needed; once one is open, the kernel table contains oneDNN's kernels. */
MX_API void mx_onednn_offer(const char* paths);
MX_API int mx_onednn_open(const char* path); /* open it now */
/* The version in use, opening an offered file; "" with an error text if there is none. */
MX_API const char* mx_onednn_version(void);
/* Maximum number of cached primitives, -1 for as many as fit in 256 MB. */
MX_API void mx_onednn_cache_limit(int64_t entries);
/* Entries, bytes (estimated), hits, misses, evictions, maximum of entries. */
MX_API void mx_onednn_cache_stats(int64_t* six);

#ifdef __cplusplus
}
#endif
#endif /* MXCY_H_ */
