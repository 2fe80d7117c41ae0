/* mxcy_parts.h: scattered memory, copied in one call. */
#ifndef MXCY_PARTS_H_
#define MXCY_PARTS_H_

#include "mxcy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Copy `count` non-overlapping parts, given by their addresses and sizes in bytes. */
MX_API void mx_copy_parts(int64_t count, const int64_t* targets, const int64_t* sources,
                          const int64_t* sizes);

#ifdef __cplusplus
}
#endif
#endif /* MXCY_PARTS_H_ */
