/* mxcy_profiler.h: profiling events, recorded per thread.
 *
 * Nothing is recorded until mx_profile_set. Code with something to record checks mx_profiled first:
 * a load and a branch. An event refers to a source, which holds its texts and is created once.
 * Kernels need none of this, so it is not part of mxcy.h. */
#ifndef MXCY_PROFILER_H_
#define MXCY_PROFILER_H_

#include "mxcy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- what is recorded ---------------------------------------------------------------------- */
enum {
  MX_PROFILE_SYMBOLIC = 1, /* operators of plans */
  MX_PROFILE_IMPERATIVE = 2,
  MX_PROFILE_API = 4,
  MX_PROFILE_MEMORY = 8,
  MX_PROFILE_RUNNING = 16 /* anything at all; without it memory is tracked, but not reported */
};
extern MX_API int32_t mx_profile_bits; /* a sum of these, 0 when off */
MX_API void mx_profile_set(int32_t bits);
/* Maximum number of unwritten events; further ones are dropped and counted. */
MX_API void mx_profile_limit(int64_t events);

static inline int32_t mx_profiled(int32_t bits) {
  return __atomic_load_n(&mx_profile_bits, __ATOMIC_RELAXED) & bits;
}

/* --- sources ------------------------------------------------------------------------------- */
/* The kinds differ in how the trace shows them. */
enum {
  MX_EVENT_OPERATOR, /* in the row of its thread and device */
  MX_EVENT_SEGMENT,  /* the same, enclosing operators */
  MX_EVENT_API,
  MX_EVENT_TASK,
  MX_EVENT_FRAME,
  MX_EVENT_SPAN,  /* in the row of its thread; spans of a thread nest */
  MX_EVENT_ASYNC, /* may overlap */
  MX_EVENT_COUNTER,
  MX_EVENT_MARKER
};
/* The id of a source, the same for the same texts. args: members of a JSON object, or the scope
 * letter of a marker; may be NULL. */
MX_API int32_t mx_profile_source(int32_t kind, const char* category, const char* name,
                                 const char* args);

/* --- events -------------------------------------------------------------------------------- */
MX_API int64_t mx_profile_now(void); /* nanoseconds of the monotonic clock */
/* Record an event from `begin` to `end`; for counters `end` is the value. Source 0 is ignored. */
MX_API void mx_profile_add(int32_t source, int64_t begin, int64_t end);
/* Attribute what this thread runs or pushes from now on to `source`; 0: to nothing. Operators
 * within "whole::..." are listed in its category as "whole::<operator>". Returns the previous
 * source. */
MX_API int32_t mx_profile_inside(int32_t source);
/* The source under which this thread records an operator with that source. */
MX_API int32_t mx_profile_part(int32_t source);
/* Run a kernel and record it. */
MX_API int mx_profile_kernel(mx_kernel kernel, const mx_call* call, int32_t source);
/* The source of the kernel that this thread is running, else 0. */
MX_API int32_t mx_profile_running(void);
/* Set the sources of a plan's steps; 0 for steps that record nothing. */
MX_API void mx_plan_sources(mx_plan* plan, const int32_t* sources);
/* The source of a run of operators with these sources. */
MX_API int32_t mx_profile_segment(const int32_t* sources, int32_t n);
/* Set the device of this thread's following events; initially cpu(0). */
MX_API void mx_profile_device(int32_t type, int32_t id);

/* The current time if any of `bits` is recorded, else 0; pass it to mx_profile_end. */
static inline int64_t mx_profile_begin(int32_t bits) {
  return __builtin_expect(mx_profiled(bits), 0) ? mx_profile_now() : 0;
}
static inline void mx_profile_end(int32_t source, int64_t begin) {
  if (__builtin_expect(begin != 0, 0)) mx_profile_add(source, begin, mx_profile_now());
}
/* Used by eager calls and plans to run kernels. */
static inline int mx_run_kernel(mx_kernel kernel, const mx_call* call, int32_t source,
                                int32_t bits) {
  if (__builtin_expect(mx_profiled(bits), 0)) return mx_profile_kernel(kernel, call, source);
  return kernel(call);
}

/* --- memory -------------------------------------------------------------------------------- */
/* Called by pools while MX_PROFILE_MEMORY is on. bytes: requested; actual: allocated. */
MX_API void mx_profile_alloc(int32_t device_type, int32_t device_id, const void* data,
                             int64_t bytes, int64_t actual);
MX_API void mx_profile_free(const void* data);
/* Set the name of this thread's allocations: the scope, followed by the source's operator. */
MX_API void mx_profile_scope(const char* scope);
MX_API void mx_profile_owner(int32_t source);
typedef struct mx_allocation {
  int64_t bytes, actual;
  int32_t device_type, device_id;
  int32_t reused;            /* the address was allocated before while memory was tracked */
  const char *scope, *owner; /* never NULL, never freed */
} mx_allocation;
/* The live allocations, in order; stores at most `most` and returns their total number. */
MX_API int64_t mx_profile_live(mx_allocation* rows, int64_t most);

/* --- taking events out --------------------------------------------------------------------- */
/* Append unwritten events to a file as lines ",\n{...}" of a Chrome trace; -1 with an error text.
 * fresh: the file is new, so processes and threads are named again. fd < 0: discard the events. */
MX_API int mx_profile_write(int32_t fd, int32_t fresh);
/* Update the statistics; with 0, events until now are excluded. */
MX_API void mx_profile_count(int32_t wanted);
typedef struct mx_profile_row {
  const char *category, *name;
  int64_t count, total, least, most, last; /* nanoseconds, or the values of a counter */
  int32_t kind;
} mx_profile_row;
/* Row number `index` of the statistics; 0 past the last. */
MX_API int32_t mx_profile_stats(int32_t index, mx_profile_row* row);
MX_API void mx_profile_reset(void);      /* forget the statistics */
MX_API int64_t mx_profile_waiting(void); /* number of unwritten events, approximately */
MX_API int64_t mx_profile_dropped(void);
/* The trace's origin ts == 0, in nanoseconds since 1970. */
MX_API int64_t mx_profile_epoch(void);

#ifdef __cplusplus
}
#endif
#endif /* MXCY_PROFILER_H_ */
