/* mxcy_storage.h: device memory. Pools keep freed memory for the next request of its size; each
 * also provides temporary space that operators borrow while they run, and random streams.
 *
 * All functions may be called from any thread, with or without the GIL. */
#ifndef MXCY_STORAGE_H_
#define MXCY_STORAGE_H_

#include "mxcy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- policies ------------------------------------------------------------------------------ */
/* How sizes are rounded, and which freed memory serves which request. */
enum {
  MX_POOL_NAIVE = 0,   /* whole pages, large sizes whole large steps; cached by exactly that size */
  MX_POOL_ROUND = 1,   /* powers of two, above a cutoff multiples of it */
  MX_POOL_UNPOOLED = 2 /* whole pages; nothing is cached */
};
typedef struct mx_pool_policy {
  int32_t strategy;
  int32_t cutoff;    /* Round: log2 of the size above which sizes are multiples of it */
  int32_t reserve;   /* percentage of the device's memory that should stay free */
  size_t page;       /* a power of two for Round */
  size_t large_step; /* Naive: larger sizes are rounded up to multiples of it */
} mx_pool_policy;
/* Bytes allocated for a request. */
MX_API size_t mx_pool_round(const mx_pool_policy* policy, size_t bytes);
/* Key under which freed memory is cached. Round: log2 of the size up to the cutoff T, then T + j
 * for (j + 1) << T bytes. Naive: the rounded size. */
MX_API size_t mx_pool_bucket(const mx_pool_policy* policy, size_t bytes);
/* Bytes of `total` that should stay free. */
MX_API size_t mx_pool_limit(const mx_pool_policy* policy, size_t total);
/* Whether the whole cache must be dropped before `bytes` (rounded) more are taken from the device.
 */
MX_API int32_t mx_pool_must_drop(const mx_pool_policy* policy, size_t bytes, size_t free,
                                 size_t total);

/* --- pools --------------------------------------------------------------------------------- */
/* The source of a pool's memory, which need not be accessible to this process. */
typedef struct mx_pool_source {
  /* Returns NULL without an error text if memory is exhausted, or with one on other errors. */
  void* (*alloc)(void* context, size_t bytes);
  void (*free)(void* context, void* data, size_t bytes);
  /* Free and total memory, when `coming` bytes are about to be taken. */
  void (*figures)(void* context, size_t coming, size_t* free, size_t* total);
  void* context;
} mx_pool_source;
typedef struct mx_pool mx_pool; /* of one device */
/* device_type: MXNet's number of the context. source: copied; NULL for this machine's memory.
 * temp_copies: number of operators that may borrow temporary space at the same time. */
MX_API mx_pool* mx_pool_create(int32_t device_type, int32_t device_id, const mx_pool_policy* policy,
                               const mx_pool_source* source, int32_t temp_copies);
/* Frees cached memory; memory still in use stays valid and may be returned later. */
MX_API void mx_pool_destroy(mx_pool* pool);
/* At least `bytes` bytes, 64-byte aligned, uninitialised; NULL for 0 bytes, or with an error text
 * if memory is exhausted even after dropping the cache. */
MX_API void* mx_pool_take(mx_pool* pool, size_t bytes);
MX_API void mx_pool_give(mx_pool* pool, void* data, size_t bytes); /* the size requested */
MX_API void mx_pool_drop(mx_pool* pool);                           /* the whole cache */

typedef struct mx_pool_stats {
  size_t limit;                                /* bytes that should stay free */
  size_t live_bytes, pooled_bytes, peak_bytes; /* rounded sizes: in use, cached, maximum in use */
  size_t hits, misses, flushes;   /* flushes: number of times the whole cache was dropped */
  size_t temp_bytes;              /* of temporary space */
  int32_t temp_copies, temp_used; /* maximum and current number of buffers */
} mx_pool_stats;
MX_API void mx_pool_read_stats(mx_pool* pool, mx_pool_stats* stats);

/* --- temporary space ------------------------------------------------------------------------ */
/* Like mx_pool_take, but from one of a few cached buffers that grow as needed. If all are borrowed:
 * wait for one, or without `wait` allocate other memory. */
MX_API void* mx_temp_take(mx_pool* pool, size_t bytes, int32_t wait);
MX_API void mx_temp_give(mx_pool* pool, void* data, size_t bytes);

/* --- random streams ------------------------------------------------------------------------- */
/* Make Dropout on a device with random streams `rng` draw from `own` instead; NULL: reset. `own`
 * has to outlive `rng`. */
MX_API void mx_rng_for_dropout(mx_rng* rng, mx_rng* own);

/* --- this machine -------------------------------------------------------------------------- */
/* Available and total bytes: the minimum over the machine and this process's cgroups (v1 and v2).
 * root: prefix of /proc and /sys, normally "". */
MX_API void mx_host_memory(const char* root, size_t* free, size_t* total);

#ifdef __cplusplus
}
#endif
#endif /* MXCY_STORAGE_H_ */
