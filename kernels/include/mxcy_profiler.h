/* mxcy_profiler.h: events of what the process does, recorded by each thread for itself.
 *
 * Nothing is recorded until mx_profile_set. Whoever has something to tell asks mx_profiled first, a
 * load and a branch. An event refers to a source, which holds its texts and is made once. Kernels
 * need none of this, so it is not part of mxcy.h.
 */
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
  MX_PROFILE_RUNNING = 16 /* anything at all; without it memory is followed, but not told of */
};
extern MX_API int32_t mx_profile_bits; /* a sum of these, 0 when off */
MX_API void mx_profile_set(int32_t bits);
/* The most events that wait to be written; further ones are dropped and counted. */
MX_API void mx_profile_limit(int64_t events);

static inline int32_t mx_profiled(int32_t bits) {
  return __atomic_load_n(&mx_profile_bits, __ATOMIC_RELAXED) & bits;
}

/* --- sources ------------------------------------------------------------------------------- */
/* Kinds differ in how the trace shows them. */
enum {
  MX_EVENT_OPERATOR, /* in the row of its thread and device */
  MX_EVENT_SEGMENT,  /* the same, around operators */
  MX_EVENT_API,
  MX_EVENT_TASK,
  MX_EVENT_FRAME,
  MX_EVENT_SPAN,  /* in the row of its thread; spans of a thread nest */
  MX_EVENT_ASYNC, /* need not nest */
  MX_EVENT_COUNTER,
  MX_EVENT_MARKER
};
/* The number of a source, always the same for the same texts. args: members of a JSON object, or
 * for markers the letter of their scope; may be NULL. */
MX_API int32_t mx_profile_source(int32_t kind, const char* category, const char* name,
                                 const char* args);

/* --- events -------------------------------------------------------------------------------- */
MX_API int64_t mx_profile_now(void); /* nanoseconds of the monotonic clock */
/* Something took from `begin` to `end`; for counters `end` is the value. Source 0 is ignored. */
MX_API void mx_profile_add(int32_t source, int64_t begin, int64_t end);
/* What this thread runs or pushes from now on is a part of what `source` tells of, 0: of nothing.
 * A part of "whole::..." is told in that category as "whole::<operator>". Returns the one before.
 */
MX_API int32_t mx_profile_inside(int32_t source);
/* The source by which this thread tells of an operator with that source. */
MX_API int32_t mx_profile_part(int32_t source);
/* Run a kernel and tell of it. */
MX_API int mx_profile_kernel(mx_kernel kernel, const mx_call* call, int32_t source);
/* The source by which the kernel is told of that this thread runs so, else 0. */
MX_API int32_t mx_profile_running(void);
/* Tell the sources of a plan's steps, one for each; 0 for those that tell of nothing. */
MX_API void mx_plan_sources(mx_plan* plan, const int32_t* sources);
/* The source of a run of operators with these sources. */
MX_API int32_t mx_profile_segment(const int32_t* sources, int32_t n);
/* To which device events of this thread belong from now on; at first to cpu(0). */
MX_API void mx_profile_device(int32_t type, int32_t id);

/* The time now if any of `bits` is recorded, else 0: what mx_profile_end takes. */
static inline int64_t mx_profile_begin(int32_t bits) {
  return __builtin_expect(mx_profiled(bits), 0) ? mx_profile_now() : 0;
}
static inline void mx_profile_end(int32_t source, int64_t begin) {
  if (__builtin_expect(begin != 0, 0)) mx_profile_add(source, begin, mx_profile_now());
}
/* What eager calls and plans run kernels by. */
static inline int mx_run_kernel(mx_kernel kernel, const mx_call* call, int32_t source,
                                int32_t bits) {
  if (__builtin_expect(mx_profiled(bits), 0)) return mx_profile_kernel(kernel, call, source);
  return kernel(call);
}

/* --- memory -------------------------------------------------------------------------------- */
/* Pools call these while MX_PROFILE_MEMORY is on. bytes: as asked for; actual: as taken. */
MX_API void mx_profile_alloc(int32_t device_type, int32_t device_id, const void* data,
                             int64_t bytes, int64_t actual);
MX_API void mx_profile_free(const void* data);
/* Under which name this thread's allocations are listed: scope, then the operator of a source. */
MX_API void mx_profile_scope(const char* scope);
MX_API void mx_profile_owner(int32_t source);
typedef struct mx_allocation {
  int64_t bytes, actual;
  int32_t device_type, device_id;
  int32_t reused;            /* the address was allocated before while memory was followed */
  const char *scope, *owner; /* never NULL, never freed */
} mx_allocation;
/* The allocations that live now, in order; returns how many there are and stores at most `most`. */
MX_API int64_t mx_profile_live(mx_allocation* rows, int64_t most);

/* --- taking events out --------------------------------------------------------------------- */
/* Append events that were not written yet to a file as lines ",\n{...}" of a Chrome trace; -1 with
 * an error text. fresh: the file is a new one, so processes and threads are named again. fd < 0:
 * leave them out of every file. */
MX_API int mx_profile_write(int32_t fd, int32_t fresh);
/* Bring the statistics up to date; with 0 what happened until now is left out of them. */
MX_API void mx_profile_count(int32_t wanted);
typedef struct mx_profile_row {
  const char *category, *name;
  int64_t count, total, least, most, last; /* nanoseconds, or the values of a counter */
  int32_t kind;
} mx_profile_row;
/* Row number `index` of the statistics; 0 when there is none. */
MX_API int32_t mx_profile_stats(int32_t index, mx_profile_row* row);
MX_API void mx_profile_reset(void);      /* forget the statistics */
MX_API int64_t mx_profile_waiting(void); /* events that wait to be written, roughly */
MX_API int64_t mx_profile_dropped(void);
/* Where ts == 0 of the trace lies, in nanoseconds since 1970. */
MX_API int64_t mx_profile_epoch(void);

#ifdef __cplusplus
}
#endif
#endif /* MXCY_PROFILER_H_ */
