/* mxcy_denormals.h: whether denormal numbers are flushed to zero. */
#ifndef MXCY_DENORMALS_H_
#define MXCY_DENORMALS_H_

#include "mxcy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Turn flushing on or off for the calling thread, its team and the engine's workers, where it takes
 * effect with their next operation. Returns the previous state; initially off. */
MX_API int32_t mx_flush_denormals(int32_t flush);
/* Apply the current setting to the calling thread. */
MX_API void mx_match_denormals(void);

#ifdef __cplusplus
}
#endif
#endif /* MXCY_DENORMALS_H_ */
