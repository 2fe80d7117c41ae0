/* mxcy_denormals.h: whether numbers too small for a full mantissa count as zero. */
#ifndef MXCY_DENORMALS_H_
#define MXCY_DENORMALS_H_

#include "mxcy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* From now on they do, or do not, in the calling thread, its team and the engine's workers, which
 * see it at their next operation. Returns the state before; at the start they do not. */
MX_API int32_t mx_flush_denormals(int32_t flush);
/* Make the calling thread do as is said. */
MX_API void mx_match_denormals(void);

#ifdef __cplusplus
}
#endif
#endif /* MXCY_DENORMALS_H_ */
