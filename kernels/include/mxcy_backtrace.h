/* mxcy_backtrace.h: the native functions that led to where a thread is, for error texts. */
#ifndef MXCY_BACKTRACE_H_
#define MXCY_BACKTRACE_H_

#include "mxcy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Write lines "  [bt] (0) library(function+offset) [address]" about the frames that called this, at
 * most `depth`, into `text`; as many as fit in `size` bytes. Returns how many. */
MX_API int32_t mx_backtrace(char* text, size_t size, int32_t depth);

/* So many frames end the text of every failure from now on; 0, as at the start, for none. */
MX_API void mx_backtrace_failures(int32_t depth);

#ifdef __cplusplus
}
#endif
#endif /* MXCY_BACKTRACE_H_ */
