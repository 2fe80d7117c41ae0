/* mxcy_backtrace.h: native stack frames of a thread, for error texts. */
#ifndef MXCY_BACKTRACE_H_
#define MXCY_BACKTRACE_H_

#include "mxcy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Write lines "  [bt] (0) library(function+offset) [address]" for at most `depth` frames above this
 * call into `text`, as many as fit in `size` bytes. Returns the number of lines. */
MX_API int32_t mx_backtrace(char* text, size_t size, int32_t depth);

/* Append up to `depth` frames to the text of every failure from now on; 0, the default, for none.
 */
MX_API void mx_backtrace_failures(int32_t depth);

#ifdef __cplusplus
}
#endif
#endif /* MXCY_BACKTRACE_H_ */
