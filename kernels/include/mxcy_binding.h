/* mxcy_binding.h: threads exempt from CPU binding; see mxcy/_machine/threads.py. */
#ifndef MXCY_BINDING_H_
#define MXCY_BINDING_H_

#include "mxcy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* If the OpenMP runtime binds the thread that loads it to one CPU, threads started by it inherit
 * this. Given the CPUs allowed before (n > 0), the engine's workers use all of them until they open
 * a parallel region; with n = 0 they inherit. */
MX_API void mx_keep_cpus(const int32_t* cpus, int32_t n);
MX_API int32_t mx_keeps_cpus(void); /* whether such CPUs were given, i.e. threads are bound */

#ifdef __cplusplus
}
#endif
#endif /* MXCY_BINDING_H_ */
