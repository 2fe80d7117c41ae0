/* mxcy_operations.h: kernel calls, runs of plans and copies as operations of the engine.
 *
 * Everything that a call refers to is copied here, but the memory of its tensors, and the plan: who
 * pushes keeps those until the operation's token comes out of mx_engine_done.
 */
#ifndef MXCY_OPERATIONS_H_
#define MXCY_OPERATIONS_H_

#include "mxcy.h"
#include "mxcy_engine.h"
#include "mxcy_storage.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All take name, place, variables, device, token and so on from `about`; its run, skipped, payload
 * and release are not looked at. 0, or -1 with an error text. */

/* Run a kernel, with at most call->threads threads and workspace that is taken from the temporary
 * space of `pool` when it runs. source: what the profiler calls it, or 0. */
MX_API int mx_push_kernel(const mx_operation* about, mx_kernel kernel, const mx_call* call,
                          size_t params_size, mx_pool* pool, int32_t source);
/* Run steps first <= i < last of a plan, see mx_plan_run. labels[i] says what step i is when it
 * fails; the labels are kept by who pushes. */
MX_API int mx_push_plan(const mx_operation* about, const mx_plan* plan, int32_t first, int32_t last,
                        void* const* bases, int32_t nbases, void* scratch, mx_rng* rng,
                        const char* const* labels);
/* Copy memory that does not overlap. */
MX_API int mx_push_copy(const mx_operation* about, void* target, const void* source, size_t bytes);
/* Do nothing: hands an error of what is read on to what is written. */
MX_API int mx_push_nothing(const mx_operation* about);

#ifdef __cplusplus
}
#endif
#endif /* MXCY_OPERATIONS_H_ */
