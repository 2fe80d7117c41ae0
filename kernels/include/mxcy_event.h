/* mxcy_event.h: events in memory that processes share. */
#ifndef MXCY_EVENT_H_
#define MXCY_EVENT_H_

#include "mxcy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zeros at first. One thread waits; any thread of any process sets it. */
typedef struct mx_event {
  int32_t set, awaited;
} mx_event;

/* Wake the waiting thread, or the next one to wait. */
MX_API void mx_event_set(mx_event* event);
/* Clear it; whether it was set. What is looked at next includes what was done before the set. */
MX_API bool mx_event_clear(mx_event* event);
/* Wait until it is set, at most so long, and clear it; whether it was set. May return early. */
MX_API bool mx_event_wait(mx_event* event, int64_t nanoseconds);

#ifdef __cplusplus
}
#endif
#endif /* MXCY_EVENT_H_ */
