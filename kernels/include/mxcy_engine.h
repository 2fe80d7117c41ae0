/* mxcy_engine.h: the dependency engine. Operations name the variables they read and write and run
 * on worker threads as soon as earlier operations on these variables are done.
 *
 * Functions that may wait have a limit in milliseconds, -1 for none, so that callers can check for
 * signals; they return 0, 1 on timeout, or -1 with mx_last_error(). */
#ifndef MXCY_ENGINE_H_
#define MXCY_ENGINE_H_

#include "mxcy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- variables ------------------------------------------------------------------------------ */
/* A tag for memory or another resource. If an operation fails, the variables it was to write carry
 * its error until they are written again, or awaited: a wait for a variable raises its error once.
 * Variables that it was to read and write keep their values, and the error ends for them as soon as
 * it has been raised anywhere. */
typedef struct mx_var mx_var;
MX_API mx_var* mx_var_create(void); /* NULL with an error text */
/* Destroyed by the caller at any time; freed when its last operation is done. NULL is allowed. */
MX_API void mx_var_destroy(mx_var* var);
/* 1: no operation uses it, is queued for it or has left an error on it (one atomic load). */
MX_API int32_t mx_var_idle(const mx_var* var);
/* 1: no operation writes it or is queued to, and it carries no error (one atomic load). */
MX_API int32_t mx_var_readable(const mx_var* var);
MX_API int32_t mx_var_failed(mx_var* var);        /* 1: it carries an error */
MX_API int64_t mx_var_version(const mx_var* var); /* number of operations that have written it */

/* --- operations ----------------------------------------------------------------------------- */
enum { MX_READS = 1, MX_WRITES = 2 }; /* both: read, then written */

enum {
  MX_OP_NORMAL = 0,
  MX_OP_COPY_FROM = 1,   /* from a GPU, on its copy queue */
  MX_OP_COPY_TO = 2,     /* to a GPU, on its copy queue */
  MX_OP_PRIORITIZED = 3, /* on the device's priority queue, largest priority first */
  MX_OP_ASYNC = 4,       /* done when mx_engine_complete is called; run by the pushing thread if
                          * its variables are free, else before others whose turn has come */
  MX_OP_NOSKIP = 5       /* runs even if an input carries an error */
};

/* Copied by mx_engine_push, including the strings. */
typedef struct mx_operation {
  int (*run)(void* payload);      /* 0, or -1 with mx_fail; on a worker, without the GIL */
  void (*skipped)(void* payload); /* instead of run, if an input carries an error; may be NULL */
  void* payload;
  void (*release)(void* payload); /* after either, before it counts as done; may be NULL */
  int64_t token;                  /* not 0: reported by mx_engine_done afterwards */
  const char* name;      /* of the operator, for error texts; NULL: run's texts are complete */
  const char* place;     /* "train.py:12", the call site; may be NULL */
  mx_var* const* vars;   /* duplicates are allowed: their accesses are merged */
  const int32_t* access; /* MX_READS, MX_WRITES or both for each */
  int32_t nvars;
  int32_t device_type, device_id; /* 2 is a GPU, everything else the CPU */
  int32_t property, priority;
} mx_operation;

/* 0: it will run, or has run here (NaiveEngine, or pushed by a running operation on variables that
 * it holds). -1: it failed here or could not be queued; the caller raises the error. */
MX_API int mx_engine_push(const mx_operation* operation);

/* The running MX_OP_ASYNC operation; run passes it to the code that completes it, with an error
 * text or NULL. If run itself fails, the operation is over and must not be completed. */
typedef struct mx_ticket mx_ticket;
MX_API mx_ticket* mx_engine_ticket(void);
MX_API void mx_engine_complete(mx_ticket* ticket, const char* error);

/* Hold variables for use by the caller: waits for its turn; other operations then wait for
 * mx_engine_leave. With limit 0 nothing is queued: 1 unless all are free. -1: a variable to be read
 * carries an error; nothing is held then. */
MX_API int mx_engine_enter(mx_var* const* vars, const int32_t* access, int32_t n, int32_t limit);
/* Same arguments as mx_engine_enter. error: stored on the written variables; NULL: clears theirs.
 */
MX_API void mx_engine_leave(mx_var* const* vars, const int32_t* access, int32_t n,
                            const char* error);

/* Store up to `most` tokens of finished operations and return their number. A single load if there
 * are none. */
MX_API int32_t mx_engine_done(int64_t* tokens, int32_t most);

/* --- waiting and errors --------------------------------------------------------------------- */
/* Wait for all earlier operations that write the variable (MX_READS) or use it at all (MX_WRITES).
 * -1: it carried an error, which ends here, or the calling operation would wait for itself. Errors
 * raised by mx_engine_wait_all are not raised again. NULL counts as idle. */
MX_API int mx_engine_wait(mx_var* var, int32_t access, int32_t limit);
/* The same, ignoring errors: -1 only for an operation that would wait for itself. */
MX_API int mx_engine_settle(mx_var* var, int32_t access, int32_t limit);
/* Wait for all operations. -1: the first error that no wait has raised; the others are discarded
 * here, but variables keep them. */
MX_API int mx_engine_wait_all(int32_t limit);

/* --- bulks ---------------------------------------------------------------------------------- */
/* Queue up to `size` normal operations that this thread pushes in succession for one device as one;
 * 0: each separately. Returns the previous size. */
MX_API int32_t mx_engine_set_bulk(int32_t size);
MX_API void mx_engine_flush(void); /* queue this thread's bulk; every wait does so as well */
/* 0: bulk sizes count as 0 until re-enabled, e.g. while operations are timed individually. */
MX_API void mx_engine_allow_bulk(int32_t allow);

/* --- the engine itself ---------------------------------------------------------------------- */
enum { MX_NAIVE_ENGINE = 0, MX_THREADED_ENGINE = 1, MX_THREADED_PER_DEVICE = 2 };
typedef struct mx_engine_settings {
  int32_t type;
  int32_t workers;          /* of each CPU queue; ThreadedEngine: of its only queue */
  int32_t priority_workers; /* of the CPU's priority queue */
  int32_t gpu_workers;      /* of each GPU's queue, and of its priority queue */
  int32_t gpu_copy_workers; /* of each GPU's copy queue */
  int32_t info;             /* 1: log dispatches and waits to stderr */
} mx_engine_settings;
/* Waits for all operations first. Threads are started by the first operation that needs them. */
MX_API int mx_engine_configure(const mx_engine_settings* settings);

typedef struct mx_engine_counts {
  mx_engine_settings settings;
  int32_t threads; /* live workers */
  int64_t pushed, run, skipped, failed, pending;
  int64_t inlined;       /* of those run: in the pushing thread */
  int64_t bulks, bulked; /* bulks queued, and operations in them */
  int64_t errors;        /* that mx_engine_wait_all would raise */
} mx_engine_counts;
MX_API void mx_engine_stats(mx_engine_counts* counts);
/* Queue number `index` in use: its name, live workers and number of operations run; 0 past the
 * last. */
MX_API int32_t mx_engine_queue(int32_t index, char name[32], int32_t* threads, int64_t* run);

/* Before a fork: finish everything pushed so far, wait until nobody holds variables, end all
 * workers. Later operations wait for mx_engine_start. Must not be called by workers. */
MX_API int mx_engine_stop(int32_t limit);
MX_API void mx_engine_start(int32_t child); /* child: after fork, in the new process */
/* 1 on a worker thread. */
MX_API int32_t mx_engine_on_worker(void);

#ifdef __cplusplus
}
#endif
#endif /* MXCY_ENGINE_H_ */
