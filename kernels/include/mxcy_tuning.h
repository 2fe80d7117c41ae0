/* mxcy_tuning.h: what operator tuning measures; see mxcy/_machine/tuning.py. */
#ifndef MXCY_TUNING_H_
#define MXCY_TUNING_H_

#include "mxcy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Nanoseconds that it takes to open and close a parallel region of `threads`: the lower quartile of
 * some runs within about `budget` nanoseconds, with a team that is awake. */
MX_API double mx_region_time(int32_t threads, int64_t budget);
/* Nanoseconds of a kernel with one thread, times[0], and with a team, times[1]: each the least of
 * some runs on zeros of this function's own, in whatever caches the run before left them. About
 * `budget` nanoseconds together; where one run takes all of it, times[1] is times[0] / team.
 * 0, or -1 with an error text. */
MX_API int mx_kernel_race(const char* name, int32_t dtype, const mx_call* call, int32_t team,
                          int64_t budget, double* times);
/* Bytes of a core's own second-level cache; a cautious guess where the system does not tell. */
MX_API int64_t mx_second_cache(void);

#ifdef __cplusplus
}
#endif
#endif /* MXCY_TUNING_H_ */
