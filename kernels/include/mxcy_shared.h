/* mxcy_shared.h: memory segments shared between processes.
 *
 * A segment has no name, so nothing is left behind, however its users end: other processes receive
 * its file descriptor. It begins with a header that counts the processes that created or attached
 * it. */
#ifndef MXCY_SHARED_H_
#define MXCY_SHARED_H_

#include "mxcy.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mx_segment {
  void* data;      /* the elements, 64-byte aligned */
  size_t bytes;    /* number of bytes */
  int32_t fd;      /* attached by other processes; -1 once closed */
  int32_t process; /* the counted process: a forked child uses its parent's segments uncounted */
} mx_segment;

/* Create a segment. All memory is allocated at once, so that lack of memory is an error here rather
 * than the end of the process on a later write. */
MX_API int mx_segment_create(size_t bytes, mx_segment* segment);
/* Count a process that will attach the segment, whose descriptor is in transit. */
MX_API void mx_segment_lend(const mx_segment* segment);
/* Takes ownership of the descriptor, even on failure; it stays open only if `keep`. `lent`: this
 * process is counted already. */
MX_API int mx_segment_attach(int32_t fd, size_t bytes, int32_t keep, int32_t lent,
                             mx_segment* segment);
MX_API int32_t mx_segment_users(const mx_segment* segment);
MX_API void mx_segment_release(mx_segment* segment);

#ifdef __cplusplus
}
#endif
#endif /* MXCY_SHARED_H_ */
