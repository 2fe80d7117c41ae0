/* mxcy_operations.h: kernel calls, plan runs and copies as engine operations.
 *
 * Everything a call refers to is copied, except the plan and the tensors' memory: the caller keeps
 * these alive until mx_engine_done returns the operation's token. */
#ifndef MXCY_OPERATIONS_H_
#define MXCY_OPERATIONS_H_

#include "mxcy.h"
#include "mxcy_engine.h"
#include "mxcy_storage.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All take name, place, variables, device, token etc. from `about`, ignoring its run, skipped,
 * payload and release. 0, or -1 with an error text. */

/* Run a kernel with at most call->threads threads; its workspace is taken from the temporary space
 * of `pool` when it runs. source: its profiler source, or 0. */
MX_API int mx_push_kernel(const mx_operation* about, mx_kernel kernel, const mx_call* call,
                          size_t params_size, mx_pool* pool, int32_t source);
/* Run steps first <= i < last of a plan, see mx_plan_run. labels[i] describes step i in error
 * texts; the caller keeps the labels alive. */
MX_API int mx_push_plan(const mx_operation* about, const mx_plan* plan, int32_t first, int32_t last,
                        void* const* bases, int32_t nbases, void* scratch, mx_rng* rng,
                        const char* const* labels);
/* A number that no other plan of the process has. */
MX_API int64_t mx_plan_number(const mx_plan* plan);
/* Whether the calling thread should run these steps itself if all they use is idle: it has waited
 * for them at once whenever it pushed them, and nobody else keeps workers busy. */
MX_API int32_t mx_plan_here(const mx_plan* plan, int32_t first, int32_t device_type,
                            int32_t device_id);
/* Set within how many microseconds a thread waits at once; 0: no thread runs such steps itself. */
MX_API void mx_set_soon(int64_t microseconds);
/* Copy non-overlapping memory. */
MX_API int mx_push_copy(const mx_operation* about, void* target, const void* source, size_t bytes);
/* Do nothing but pass errors from the inputs on to the outputs. */
MX_API int mx_push_nothing(const mx_operation* about);

#ifdef __cplusplus
}
#endif
#endif /* MXCY_OPERATIONS_H_ */
