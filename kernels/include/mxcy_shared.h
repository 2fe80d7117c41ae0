/* mxcy_shared.h: segments of memory that several processes use.
 *
 * A segment has no name, so that nothing of it stays behind, however its users end: other processes
 * get its file descriptor. It begins with a header, in which the processes are counted that made or
 * attached it.
 */
#ifndef MXCY_SHARED_H_
#define MXCY_SHARED_H_

#include "mxcy.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mx_segment {
  void* data;   /* the elements, 64-byte aligned */
  size_t bytes; /* of the elements */
  int32_t fd;   /* what other processes attach; -1 when it was closed */
  int32_t
      process; /* the one that is counted: a forked child uses its parent's segments uncounted */
} mx_segment;

/* All memory is taken at once: a segment for which there is no room is an error here, and not the
 * end of the process when it is written. */
MX_API int mx_segment_create(size_t bytes, mx_segment* segment);
/* Count a process that will attach the segment, whose descriptor is on its way there. */
MX_API void mx_segment_lend(const mx_segment* segment);
/* Takes over the descriptor, even when it fails; it stays open only if `keep`. `lent`: this process
 * is counted already. */
MX_API int mx_segment_attach(int32_t fd, size_t bytes, int32_t keep, int32_t lent,
                             mx_segment* segment);
MX_API int32_t mx_segment_users(const mx_segment* segment);
MX_API void mx_segment_release(mx_segment* segment);

#ifdef __cplusplus
}
#endif
#endif /* MXCY_SHARED_H_ */
