/* mxcy_stream.h: copies to memory that other cores read next. */
#ifndef MXCY_STREAM_H_
#define MXCY_STREAM_H_

#include "mxcy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Copy bytes past this core's caches; they do not overlap. */
MX_API void mx_stream(int64_t bytes, const void* from, void* to);

#ifdef __cplusplus
}
#endif
#endif /* MXCY_STREAM_H_ */
