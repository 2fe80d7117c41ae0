/* mxcy_sums.h: sums of the arrays of several processes. */
#ifndef MXCY_SUMS_H_
#define MXCY_SUMS_H_

#include "mxcy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sum n elements of two or more arrays of a dtype without float16, in the order of the arrays. The
 * sums go to `out`, which may be one of the arrays, to `shared`, which other cores read next, or to
 * both; either may be null. Returns false for dtypes that it does not know. */
MX_API bool mx_sum_arrays(int32_t dtype, int64_t arrays, const void* const* terms, int64_t n,
                          void* out, void* shared);

#ifdef __cplusplus
}
#endif
#endif /* MXCY_SUMS_H_ */
