/* mxcy_storage.h: the memory of devices. Pools keep freed memory for the next request of its size;
 * each also has the temporary space that operators borrow while they run, as they borrow random
 * streams.
 *
 * All functions may be called from any thread, with or without the Python lock.
 */
#ifndef MXCY_STORAGE_H_
#define MXCY_STORAGE_H_

#include "mxcy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- policies ------------------------------------------------------------------------------ */
/* How sizes are rounded, and which freed memory serves which request. */
enum {
  MX_POOL_NAIVE = 0,   /* whole pages, large sizes whole large steps; kept by exactly that size */
  MX_POOL_ROUND = 1,   /* powers of two, above a cutoff multiples of it */
  MX_POOL_UNPOOLED = 2 /* whole pages; nothing is kept */
};
typedef struct mx_pool_policy {
  int32_t strategy;
  int32_t cutoff;    /* Round: log2 of the size from which on sizes are multiples of it */
  int32_t reserve;   /* percentage of the device's memory that should stay free */
  size_t page;       /* a power of two with Round */
  size_t large_step; /* Naive: sizes above it are rounded up to multiples of it */
} mx_pool_policy;
/* Bytes that a request takes. */
MX_API size_t mx_pool_round(const mx_pool_policy* policy, size_t bytes);
/* What freed memory of a request is kept under. Round: log2 of the size up to the cutoff T, then
 * T + j for (j + 1) << T bytes. Naive: the rounded size. */
MX_API size_t mx_pool_bucket(const mx_pool_policy* policy, size_t bytes);
/* Bytes of `total` that should stay free. */
MX_API size_t mx_pool_limit(const mx_pool_policy* policy, size_t total);
/* Whether everything kept has to go before `bytes` (rounded) more are taken from the device. */
MX_API int32_t mx_pool_must_drop(const mx_pool_policy* policy, size_t bytes, size_t free,
                                 size_t total);

/* --- pools --------------------------------------------------------------------------------- */
/* Where a pool's memory comes from; it need not be memory that this process can read. */
typedef struct mx_pool_source {
  /* NULL when there is none, without an error text; or with one, when something else is wrong. */
  void* (*alloc)(void* context, size_t bytes);
  void (*free)(void* context, void* data, size_t bytes);
  /* Memory that is free and that there is, when `coming` bytes are about to be taken. */
  void (*figures)(void* context, size_t coming, size_t* free, size_t* total);
  void* context;
} mx_pool_source;
typedef struct mx_pool mx_pool; /* of one device */
/* device_type: the number of contexts in MXNet's files. source: copied; NULL for this machine's
 * memory. temp_copies: how many operators may borrow temporary space at the same time. */
MX_API mx_pool* mx_pool_create(int32_t device_type, int32_t device_id, const mx_pool_policy* policy,
                               const mx_pool_source* source, int32_t temp_copies);
/* What is kept goes; memory that is still in use stays valid and may be given back later. */
MX_API void mx_pool_destroy(mx_pool* pool);
/* At least `bytes` bytes, 64-byte aligned, uninitialised; NULL for 0 bytes, or with an error text
 * after everything kept was dropped and a second attempt failed as well. */
MX_API void* mx_pool_take(mx_pool* pool, size_t bytes);
MX_API void mx_pool_give(mx_pool* pool, void* data, size_t bytes); /* the bytes asked for */
MX_API void mx_pool_drop(mx_pool* pool);                           /* everything kept */

typedef struct mx_pool_stats {
  size_t limit;                                /* bytes that should stay free */
  size_t live_bytes, pooled_bytes, peak_bytes; /* rounded sizes: in use, kept, most in use */
  size_t hits, misses, flushes;                /* flushes: how often everything kept was dropped */
  size_t temp_bytes;                           /* of temporary space */
  int32_t temp_copies, temp_used;              /* buffers it may have, and has */
} mx_pool_stats;
MX_API void mx_pool_read_stats(mx_pool* pool, mx_pool_stats* stats);

/* --- temporary space ------------------------------------------------------------------------ */
/* Like mx_pool_take, but out of one of a few buffers that are kept and grow as needed. When all of
 * them are borrowed: wait for one, or without `wait` take other memory. */
MX_API void* mx_temp_take(mx_pool* pool, size_t bytes, int32_t wait);
MX_API void mx_temp_give(mx_pool* pool, void* data, size_t bytes);

/* --- random streams ------------------------------------------------------------------------- */
/* Dropout on a device whose random streams are `rng` takes those of `own` instead; NULL: no longer.
 * `own` has to live as long as `rng`. */
MX_API void mx_rng_for_dropout(mx_rng* rng, mx_rng* own);

/* --- this machine -------------------------------------------------------------------------- */
/* Bytes that are available and that there are: the least of the machine's and those of the control
 * groups (versions 1 and 2) of this process. root: where /proc and /sys hang, normally "". */
MX_API void mx_host_memory(const char* root, size_t* free, size_t* total);

#ifdef __cplusplus
}
#endif
#endif /* MXCY_STORAGE_H_ */
