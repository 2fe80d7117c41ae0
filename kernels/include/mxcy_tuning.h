/* mxcy_tuning.h: measurements for operator tuning; see mxcy/_machine/tuning. */
#ifndef MXCY_TUNING_H_
#define MXCY_TUNING_H_

#include "mxcy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Nanoseconds to open and close a parallel region of `threads`: the lower quartile of several runs
 * within about `budget` nanoseconds, with an awake team. */
MX_API double mx_region_time(int32_t threads, int64_t budget);
/* Nanoseconds of a kernel with one thread, times[0], and with a team, times[1]: each the minimum of
 * several runs on zeros allocated here, in whatever cache state the previous run left. About
 * `budget` nanoseconds in total; if a single run uses it up, times[1] is times[0] / team. 0, or -1
 * with an error text. */
MX_API int mx_kernel_race(const char* name, int32_t dtype, const mx_call* call, int32_t team,
                          int64_t budget, double* times);
/* Bytes of a core's private L2 cache; a conservative guess if the system does not report it. */
MX_API int64_t mx_second_cache(void);

#ifdef __cplusplus
}
#endif
#endif /* MXCY_TUNING_H_ */
