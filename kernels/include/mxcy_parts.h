/* mxcy_parts.h: memory in many places, copied in one call. */
#ifndef MXCY_PARTS_H_
#define MXCY_PARTS_H_

#include "mxcy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Copy `count` parts of memory, whose addresses and sizes in bytes are given; none overlap. */
MX_API void mx_copy_parts(int64_t count, const int64_t* targets, const int64_t* sources,
                          const int64_t* sizes);

#ifdef __cplusplus
}
#endif
#endif /* MXCY_PARTS_H_ */
